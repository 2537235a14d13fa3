# Installs the build to a folder of its own and uses what is there as a stranger would: the program
# from another folder without HOME, and the library from a project of its own.
cmake_minimum_required(VERSION 3.22)

set(work ${BINARY_DIR}/Testing/install)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work}/elsewhere)

function(run what)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work}/elsewhere
                  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(require_file path)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "not installed: ${path}")
  endif()
endfunction()

run("installing" ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix})
foreach(path IN ITEMS
    ${BINDIR}/attnmap ${LIBDIR}/attnmap/attnmap-codecs.so include/attnmap/encoder/encoder.h
    share/attnmap/models/demo-vit.json share/attnmap/models/one-layer.json
    share/attnmap/images/chelsea.png share/attnmap/images/README.md share/attnmap/fonts/DejaVuSans.ttf
    share/doc/attnmap/LICENSE ${LIBDIR}/cmake/attnmap/attnmapConfig.cmake)
  require_file(${path})
endforeach()

foreach(module IN ITEMS attnmap-video.so attnmap-pdf.so)
  if(EXISTS ${BINARY_DIR}/${module})
    require_file(${LIBDIR}/attnmap/${module})
  endif()
endforeach()

# The program finds its model, its font and its codec module with no variable set. A BMP needs the
# module; the labels of a sheet need the font.
set(program env -i PATH=/usr/bin:/bin TSAN_OPTIONS=$ENV{TSAN_OPTIONS} ${prefix}/${BINDIR}/attnmap)
run("the installed program" ${program} run ${prefix}/share/attnmap/images/chelsea.png)
run("the installed codec module" ${program} run ${SOURCE_DIR}/tests/install/stripes.bmp -o bmp.png)
run("the installed font" ${program} run ${prefix}/share/attnmap/images/chelsea.png
    --layout sheet --head all -o sheet.png)
set(pictures chelsea.attnmap.png bmp.png sheet.png)
if(EXISTS ${BINARY_DIR}/attnmap-pdf.so)
  run("the installed PDF module" ${program} run ${prefix}/share/attnmap/images/chelsea.png -o x.pdf)
  list(APPEND pictures x.pdf)
endif()
foreach(picture IN LISTS pictures)
  if(NOT EXISTS ${work}/elsewhere/${picture})
    message(FATAL_ERROR "the installed program did not write ${picture}")
  endif()
endforeach()

# A project of its own that asks for nothing but attnmap.
run("configuring the consumer" ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/install/consumer
    -B ${work}/consumer -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS=${FLAGS})
run("building the consumer" ${CMAKE_COMMAND} --build ${work}/consumer)
run("the consumer" ${work}/consumer/consumer)
if(NOT output MATCHES "row of 197 sums to 1\n")
  message(FATAL_ERROR "the consumer said: ${output}")
endif()
file(REMOVE_RECURSE ${work})
