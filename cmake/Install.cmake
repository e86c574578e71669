# Install: the library, its headers, the command, its manual page and completions, and two ways to find the library:
# find_package(abut) -> abut::abut, and pkg-config abut.
include(CMakePackageConfigHelpers)
install(TARGETS abut EXPORT abut-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS abut_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/abut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT abut-targets NAMESPACE abut:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abut)
configure_package_config_file(cmake/abut-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/abut-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abut)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/abut-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/abut-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/abut-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abut)
configure_file(cmake/abut.pc.in ${CMAKE_CURRENT_BINARY_DIR}/abut.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/abut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
