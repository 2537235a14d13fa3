# `cmake --install DIR --prefix PREFIX`, and the package that find_package(attnmap) finds there.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attnmap)

install(TARGETS attnmap RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS attnmap_lib EXPORT attnmapTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/attnmap)
install(DIRECTORY include/attnmap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/attnmap)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT attnmapTargets NAMESPACE attnmap:: DESTINATION ${package_dir})
configure_package_config_file(cmake/attnmapConfig.cmake.in ${CMAKE_BINARY_DIR}/attnmapConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/attnmapConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/attnmapConfig.cmake ${CMAKE_BINARY_DIR}/attnmapConfigVersion.cmake
        DESTINATION ${package_dir})
install(FILES cmake/Dependencies.cmake DESTINATION ${package_dir} RENAME attnmapDependencies.cmake)
