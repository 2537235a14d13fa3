# What a room is, and what a build of them needs.

set(attnmap_opencv_modules core imgproc imgcodecs)
include(cmake/Dependencies.cmake)
# Headers and the program only: whoever uses the installed library needs none of these.
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(FastFloat QUIET)
if(NOT TARGET FastFloat::fast_float)
  find_path(FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h REQUIRED)
  add_library(FastFloat::fast_float INTERFACE IMPORTED GLOBAL)
  target_include_directories(FastFloat::fast_float SYSTEM INTERFACE ${FAST_FLOAT_INCLUDE_DIR})
endif()

# The film module is left out where this is not there.
if(ATTNMAP_VIDEO AND NOT TARGET opencv_videoio)
  find_path(ATTNMAP_OPENCV_VIDEOIO_INCLUDE_DIR opencv2/videoio.hpp PATH_SUFFIXES opencv4)
  find_library(ATTNMAP_OPENCV_VIDEOIO_LIBRARY opencv_videoio)
  if(ATTNMAP_OPENCV_VIDEOIO_INCLUDE_DIR AND ATTNMAP_OPENCV_VIDEOIO_LIBRARY)
    add_library(opencv_videoio UNKNOWN IMPORTED GLOBAL)
    set_target_properties(opencv_videoio PROPERTIES
      IMPORTED_LOCATION ${ATTNMAP_OPENCV_VIDEOIO_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${ATTNMAP_OPENCV_VIDEOIO_INCLUDE_DIR})
  else()
    message(STATUS "OpenCV's videoio was not found: `attnmap video` will not work")
  endif()
endif()

# So is the PDF module.
if(ATTNMAP_PDF)
  pkg_check_modules(attnmap_cairo QUIET IMPORTED_TARGET cairo-pdf>=1.16 cairo-ft>=1.16)
  if(NOT TARGET PkgConfig::attnmap_cairo)
    message(STATUS "cairo was not found: pictures will not be written as PDF")
  endif()
endif()

add_library(attnmap_flags INTERFACE)
# gcc 12 sees overlapping copies in plain string concatenation (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(attnmap_flags INTERFACE -Wno-restrict)
endif()
target_compile_options(attnmap_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers
                       $<$<BOOL:${ATTNMAP_WERROR}>:-Werror>)

set_property(GLOBAL PROPERTY attnmap_rooms)

# attnmap_room(NAME [LINK target...] [HEADERS target...]): compiles src/NAME/*.cc.
# HEADERS are libraries of headers alone, which linking does not need.
function(attnmap_room name)
  cmake_parse_arguments(arg "" "" "LINK;HEADERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cc)
  file(GLOB families CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/families/*.cc)
  list(APPEND sources ${families})
  # Each family answers the same questions under the same names.
  set_source_files_properties(${families} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT sources)
    return()
  endif()
  add_library(attnmap_${name} OBJECT ${sources})
  target_include_directories(attnmap_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_include_directories(attnmap_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(attnmap_${name} PRIVATE attnmap_flags ${arg_LINK} ${arg_HEADERS})
  set_property(GLOBAL APPEND PROPERTY attnmap_rooms ${name})
  set_property(GLOBAL APPEND PROPERTY attnmap_links ${arg_LINK})
endfunction()

# attnmap_module(NAME source...): a shared library attnmap-NAME.so that the program
# loads when it needs it (attnmap/image/module.h).
function(attnmap_module name)
  add_library(attnmap_${name} MODULE ${ARGN})
  target_include_directories(attnmap_${name} PRIVATE include src)
  target_link_libraries(attnmap_${name} PRIVATE attnmap_flags)
  set_target_properties(attnmap_${name} PROPERTIES PREFIX "" OUTPUT_NAME attnmap-${name}
                        CXX_VISIBILITY_PRESET hidden)
  set_property(GLOBAL APPEND PROPERTY attnmap_modules attnmap_${name})
endfunction()

# One library of all rooms: static, or shared with -DBUILD_SHARED_LIBS=ON.
function(attnmap_library name)
  get_property(rooms GLOBAL PROPERTY attnmap_rooms)
  get_property(links GLOBAL PROPERTY attnmap_links)
  list(REMOVE_DUPLICATES links)
  add_library(${name})
  foreach(room IN LISTS rooms)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:attnmap_${room}>)
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME attnmap EXPORT_NAME attnmap
                        LINKER_LANGUAGE CXX
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:attnmap_flags> ${links})
  add_library(attnmap::attnmap ALIAS ${name})
endfunction()

# Copies the files below FROM into the build folder's TO, anew when one changes.
function(attnmap_copy_tree from to)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${from}
       ${CMAKE_CURRENT_SOURCE_DIR}/${from}/*)
  set(copies)
  foreach(file IN LISTS files)
    set(copy ${CMAKE_BINARY_DIR}/${to}/${file})
    add_custom_command(OUTPUT ${copy}
      COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/${from}/${file} ${copy}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${from}/${file} VERBATIM)
    list(APPEND copies ${copy})
  endforeach()
  add_custom_target(attnmap_data ALL DEPENDS ${copies})
endfunction()
