# What is derived from the list of commands in cli/cli.h (tools/commands.py): manual page and completions.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
file(GLOB ABUT_COMMAND_PAGES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/commands/*.1)
set(ABUT_DERIVED_FOLDER ${PROJECT_BINARY_DIR}/derived)
file(MAKE_DIRECTORY ${ABUT_DERIVED_FOLDER})
function(abut_derive kind template output)
  add_custom_command(OUTPUT ${ABUT_DERIVED_FOLDER}/${output}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/commands.py ${PROJECT_SOURCE_DIR} ${kind}
            > ${ABUT_DERIVED_FOLDER}/${output}
    DEPENDS tools/commands.py cli/cli.h CMakeLists.txt ${template} ${ABUT_COMMAND_PAGES} VERBATIM)
endfunction()
abut_derive(man docs/abut.1.in abut.1)
abut_derive(bash tools/completions/abut.bash.in abut.bash)
abut_derive(zsh tools/completions/_abut.in _abut)
abut_derive(fish tools/completions/abut.fish.in abut.fish)
add_custom_target(abut_derived ALL DEPENDS ${ABUT_DERIVED_FOLDER}/abut.1 ${ABUT_DERIVED_FOLDER}/abut.bash
                  ${ABUT_DERIVED_FOLDER}/_abut ${ABUT_DERIVED_FOLDER}/abut.fish)
