# The page of `abut view`: viewer/build makes one HTML file of viewer/, which the command takes in.
if(ABUT_VIEWER)
  if(NOT ABUT_NODE OR NOT ABUT_NPM)
    message(FATAL_ERROR "the page of abut view needs Node 18 or newer and npm: apt-get install nodejs npm, or -DABUT_VIEWER=OFF")
  endif()
  set(ABUT_PAGE_FILE ${PROJECT_BINARY_DIR}/viewer/page.html)
  file(GLOB_RECURSE ABUT_PAGE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
  add_custom_command(OUTPUT ${ABUT_PAGE_FILE}
    COMMAND ${ABUT_NODE} ${PROJECT_SOURCE_DIR}/viewer/build.mjs ${ABUT_PAGE_FILE}
    DEPENDS ${ABUT_PAGE_SOURCES} viewer/build.mjs viewer/index.html viewer/vite.config.mjs viewer/package.json
            viewer/package-lock.json viewer/tsconfig.json
    COMMENT "Building the page of abut view" VERBATIM)
  add_custom_target(abut_page DEPENDS ${ABUT_PAGE_FILE})
endif()
