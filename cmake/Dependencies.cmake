# What the library links to; all of it from the distribution's packages (tools/setup installs them).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_library(ABUT_QHULL qhull_r REQUIRED)
find_library(ABUT_LAPACKE lapacke REQUIRED)
find_library(ABUT_CIVETWEB civetweb REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(ABUT_CLP REQUIRED IMPORTED_TARGET clp)
pkg_check_modules(ABUT_LUA REQUIRED IMPORTED_TARGET lua5.4)
pkg_check_modules(ABUT_JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ABUT_SQLITE REQUIRED IMPORTED_TARGET sqlite3)

add_library(abut_dependencies INTERFACE)
target_link_libraries(abut_dependencies INTERFACE
  -Wl,--as-needed ${ABUT_QHULL} ${ABUT_LAPACKE} PkgConfig::ABUT_CLP PkgConfig::ABUT_LUA PkgConfig::ABUT_JANSSON
  PkgConfig::ABUT_SQLITE Threads::Threads m)
