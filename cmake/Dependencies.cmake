# Finds the libraries that the rooms link. Installed too: a project that uses
# attnmap links the same ones behind the static library.
# attnmap_opencv_modules: which parts of OpenCV.

find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Freetype REQUIRED)

# Debian's small packages (libopencv-imgproc-dev) bring headers and libraries
# but no OpenCVConfig.cmake; that comes with libopencv-dev, which pulls in VTK and Qt.
if(attnmap_opencv_modules)
  find_package(OpenCV QUIET COMPONENTS ${attnmap_opencv_modules})
endif()
foreach(module IN LISTS attnmap_opencv_modules)
  if(NOT TARGET opencv_${module})
    find_path(ATTNMAP_OPENCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
    find_library(ATTNMAP_OPENCV_${module} opencv_${module} REQUIRED)
    add_library(opencv_${module} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(opencv_${module} PROPERTIES
      IMPORTED_LOCATION ${ATTNMAP_OPENCV_${module}}
      INTERFACE_INCLUDE_DIRECTORIES ${ATTNMAP_OPENCV_INCLUDE_DIR})
  endif()
endforeach()

# Debian's packages bring pkg-config files but not always CMake ones.
find_package(PkgConfig REQUIRED)
function(attnmap_pkg target module)
  if(NOT TARGET ${target})
    string(MAKE_C_IDENTIFIER attnmap_${module} id)
    pkg_check_modules(${id} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE PkgConfig::${id})
  endif()
endfunction()
attnmap_pkg(WebP::webp libwebp)
attnmap_pkg(WebP::webpdemux libwebpdemux)
attnmap_pkg(hwy::hwy libhwy)
