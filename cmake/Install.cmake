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
# The .pc file finds the prefix from its own place, so that `cmake --install --prefix` and packages may move it.
file(RELATIVE_PATH ABUT_PC_TO_PREFIX /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr)
string(REGEX REPLACE "/$" "" ABUT_PC_TO_PREFIX ${ABUT_PC_TO_PREFIX})
configure_file(cmake/abut.pc.in ${CMAKE_CURRENT_BINARY_DIR}/abut.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/abut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# the gallery of `abut view`
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/abut)
install(DIRECTORY docs/pictures/scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/abut/scenes/pictures OPTIONAL)
install(FILES ${ABUT_DERIVED_FOLDER}/abut.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${ABUT_DERIVED_FOLDER}/abut.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME abut)
install(FILES ${ABUT_DERIVED_FOLDER}/_abut DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${ABUT_DERIVED_FOLDER}/abut.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
