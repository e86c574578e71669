/* Stacks for CivetWeb's threads.
 *
 * CivetWeb asks for stacks of 100 KiB, and its own reports of a broken WebSocket frame overflow them (a
 * header that announces 2^62 bytes is enough); answers of ours that build an index or go through a part of a
 * run need more as well.  The size is fixed when the library is built, so the call it makes is met here, in
 * front of the C library's: every thread gets what the system gives a program, of which only what is used
 * takes memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

enum { LEAST = 8 << 20 };

__attribute__((visibility("default"))) int pthread_attr_setstacksize(pthread_attr_t *attributes,
                                                                     size_t size) {
    typedef int set_size(pthread_attr_t *, size_t);
    set_size *next;
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_attr_setstacksize");
    return next(attributes, size < LEAST ? LEAST : size);
}
