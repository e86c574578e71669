/* page.html as bytes: the assembler takes the built file in. */
#include "view_page.h"

#ifdef ABUT_PAGE

__asm__(".pushsection .rodata\n"
        ".global abut_page_start\n.hidden abut_page_start\nabut_page_start:\n"
        ".incbin \"" ABUT_PAGE "\"\n"
        ".global abut_page_end\n.hidden abut_page_end\nabut_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char abut_page_start[], abut_page_end[];

const char *view_page(size_t *size) {
    *size = (size_t)(abut_page_end - abut_page_start);
    return abut_page_start;
}

#else

const char *view_page(size_t *size) {
    *size = 0;
    return NULL;
}

#endif
