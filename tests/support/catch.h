#ifndef ATTNMAP_TESTS_SUPPORT_CATCH_H_
#define ATTNMAP_TESTS_SUPPORT_CATCH_H_

// Catch2 version 3 (newer distributions) or 2 (Debian 12).
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#endif  // ATTNMAP_TESTS_SUPPORT_CATCH_H_
