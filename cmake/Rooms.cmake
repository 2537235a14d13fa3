# The libraries the rooms use, and what a room is.

find_package(Threads REQUIRED)
# Debian's small packages (libopencv-imgcodecs-dev) bring headers and libraries
# but no OpenCVConfig.cmake; that comes with libopencv-dev, which pulls in VTK and Qt.
find_package(OpenCV QUIET COMPONENTS core imgproc imgcodecs)
if(NOT OpenCV_FOUND)
  find_path(OpenCV_INCLUDE_DIRS opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
  foreach(module core imgproc imgcodecs)
    find_library(OpenCV_${module}_LIBRARY opencv_${module} REQUIRED)
    add_library(opencv_${module} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(opencv_${module} PROPERTIES
      IMPORTED_LOCATION ${OpenCV_${module}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_INCLUDE_DIRS})
  endforeach()
endif()
# oneDNN's own package file in Debian asks for the OpenCL headers, which we do not use.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED GLOBAL)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
find_package(nlohmann_json 3.9 REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Freetype REQUIRED)
find_package(CLI11 REQUIRED)

# Debian's packages bring pkg-config files but not always CMake ones.
find_package(PkgConfig REQUIRED)
function(attnmap_pkg target module)
  if(NOT TARGET ${target})
    string(MAKE_C_IDENTIFIER ${module} id)
    pkg_check_modules(${id} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    add_library(${target} ALIAS PkgConfig::${id})
  endif()
endfunction()
attnmap_pkg(WebP::webp libwebp)
attnmap_pkg(WebP::webpdemux libwebpdemux)
attnmap_pkg(libzip::zip libzip)
attnmap_pkg(hwy::hwy libhwy)
find_package(FastFloat QUIET)
if(NOT TARGET FastFloat::fast_float)
  find_path(FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h REQUIRED)
  add_library(FastFloat::fast_float INTERFACE IMPORTED GLOBAL)
  target_include_directories(FastFloat::fast_float SYSTEM INTERFACE ${FAST_FLOAT_INCLUDE_DIR})
endif()

add_library(attnmap_flags INTERFACE)
target_compile_options(attnmap_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       $<$<BOOL:${ATTNMAP_WERROR}>:-Werror>)

set_property(GLOBAL PROPERTY attnmap_rooms)

# attnmap_room(NAME [LINK target...]): compiles src/NAME/*.cc.
function(attnmap_room name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cc
       ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/families/*.cc)
  if(NOT sources)
    return()
  endif()
  add_library(attnmap_${name} OBJECT ${sources})
  target_include_directories(attnmap_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_include_directories(attnmap_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(attnmap_${name} PRIVATE attnmap_flags ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY attnmap_rooms ${name})
  set_property(GLOBAL APPEND PROPERTY attnmap_links ${arg_LINK})
endfunction()

# One static library of all rooms.
function(attnmap_library name)
  get_property(rooms GLOBAL PROPERTY attnmap_rooms)
  get_property(links GLOBAL PROPERTY attnmap_links)
  list(REMOVE_DUPLICATES links)
  add_library(${name} STATIC)
  foreach(room IN LISTS rooms)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:attnmap_${room}>)
  endforeach()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME attnmap EXPORT_NAME attnmap
                        LINKER_LANGUAGE CXX)
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
