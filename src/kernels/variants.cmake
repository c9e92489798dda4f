# Kernels that exist more than once, because what the compiler may do to them is part of the number.
# Each is an object library of its own; ps_kernel_variants gathers them. Also read by mcu/, so paths
# start from this file.
include(CheckCCompilerFlag)
add_library(ps_kernel_variants STATIC)
target_link_libraries(ps_kernel_variants PUBLIC ps_options)

# The flags of ARGN that the compiler knows.
function(ps_known_flags ret_flags)
    set(known)
    foreach(flag IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER "PS_KNOWS${flag}" variable)
        set(CMAKE_REQUIRED_FLAGS -Werror)
        check_c_compiler_flag(${flag} ${variable})
        if(${variable})
            list(APPEND known ${flag})
        endif()
    endforeach()
    set(${ret_flags} ${known} PARENT_SCOPE)
endfunction()

# ---- Dhrystone: strict keeps the published ground rules (separate files, no merging of procedures,
# the library's string functions really called); vendor is what a vendor's page is likely to show.
# Neither is optimised across the two files.
function(ps_dhrystone suffix)
    ps_known_flags(flags ${ARGN})
    string(REPLACE ";" " " flags_text "${flags}")
    add_library(ps_dhrystone_${suffix} OBJECT
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dhrystone_a.c ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dhrystone_b.c)
    target_link_libraries(ps_dhrystone_${suffix} PRIVATE ps_options)
    target_compile_options(ps_dhrystone_${suffix} PRIVATE ${flags})
    target_compile_definitions(ps_dhrystone_${suffix} PRIVATE PSK_SUFFIX=${suffix} PSK_FLAGS="${flags_text}")
    target_sources(ps_kernel_variants PRIVATE $<TARGET_OBJECTS:ps_dhrystone_${suffix}>)
endfunction()
ps_dhrystone(strict -O2 -fno-inline -fno-ipa-cp -fno-ipa-sra -fno-builtin-strcpy -fno-builtin-strcmp -fno-lto)
ps_dhrystone(vendor -O3 -fno-lto)

# ---- STREAM: its rule is that the compiler may do what it can, so it is told to, whatever the build.
# Only the call of memcpy that compilers make of the copy loop is kept out.
ps_known_flags(stream_flags -O3 -fno-builtin)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/stream_ops.c PROPERTIES COMPILE_OPTIONS "${stream_flags}")
