# Writes OUTPUT, assembly for x86-64: for each function of LIBRARIES that OBJECTS call,
# a jump through a table. The first call has src/base/lazy_library.cpp fill the table.
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
string(REPLACE "|" ";" LIBRARIES "${LIBRARIES}")

function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
  string(REGEX REPLACE "\n$" "" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

run(wanted ${NM} -u -P ${OBJECTS})
run(given ${NM} -D --defined-only -P ${LIBRARIES})
foreach(line IN LISTS given)
  if(line MATCHES "^([A-Za-z_0-9]+)[^ ]* ([A-Z i])")
    set(kind_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endif()
endforeach()

set(names)
foreach(line IN LISTS wanted)
  if(NOT line MATCHES "^([A-Za-z_0-9]+) [Uw]")
    continue()
  endif()
  set(symbol ${CMAKE_MATCH_1})
  # The standard library's templates are instantiated everywhere.
  if(NOT DEFINED kind_${symbol} OR symbol MATCHES "^_Z(N?K?S[tabdios]|n[wa]|d[la])")
    continue()
  endif()
  if(NOT kind_${symbol} MATCHES "[TWi]")
    message(FATAL_ERROR "${NAME}: ${symbol} is data, and only functions can be loaded later; "
                        "avoid it, or configure with -DCUPEL_LAZY_LIBRARIES=OFF")
  endif()
  list(APPEND names ${symbol})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
list(LENGTH names count)
if(count EQUAL 0)
  message(FATAL_ERROR "${NAME}: nothing of ${LIBRARIES} is used")
endif()

# The first library's name for the loader; the others must be among its dependencies.
list(GET LIBRARIES 0 first)
run(headers ${OBJDUMP} -p ${first})
if(NOT "${headers}" MATCHES "SONAME +([^ ;]+)")
  message(FATAL_ERROR "${first} has no SONAME")
endif()
set(soname ${CMAKE_MATCH_1})

set(jumps "")
set(slots "")
set(strings "")
set(table "")
foreach(symbol IN LISTS names)
  string(APPEND jumps "
  .globl ${symbol}
  .hidden ${symbol}
  .type ${symbol}, @function
${symbol}:
  endbr64
  jmp *.Lslot_${symbol}(%rip)
  .size ${symbol}, . - ${symbol}
.Lload_${symbol}:
  endbr64
  lea .Lslot_${symbol}(%rip), %r11
  jmp .Lload
")
  string(APPEND slots ".Lslot_${symbol}:\n  .quad .Lload_${symbol}\n")
  string(APPEND strings ".Lname_${symbol}: .asciz \"${symbol}\"\n")
  string(APPEND table "  .quad .Lname_${symbol}\n")
endforeach()
file(WRITE ${OUTPUT} "# Made by stubs.cmake: the functions of ${soname} that are called.
  .text
${jumps}
# The first call: the arguments, wherever they are, are kept for the function itself.
.Lload:
  push %rbp
  mov %rsp, %rbp
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %rax
  push %r10
  push %r11
  sub $128, %rsp
  and $-16, %rsp
  movups %xmm0, 0(%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  lea .Llibrary(%rip), %rdi
  call cupel_lazy_load@PLT
  movups 0(%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  mov -8(%rbp), %rdi
  mov -16(%rbp), %rsi
  mov -24(%rbp), %rdx
  mov -32(%rbp), %rcx
  mov -40(%rbp), %r8
  mov -48(%rbp), %r9
  mov -56(%rbp), %rax
  mov -64(%rbp), %r10
  mov -72(%rbp), %r11
  leave
  jmp *(%r11)

  .data
  .balign 8
.Lslots:
${slots}
  .section .rodata.str1.1, \"aMS\", @progbits, 1
${strings}.Lsoname: .asciz \"${soname}\"

  .section .data.rel.ro, \"aw\"
  .balign 8
.Lnames:
${table}
# A LazyLibrary.
.Llibrary:
  .quad .Lsoname
  .quad .Lnames
  .quad .Lslots
  .quad ${count}

  .section cupel_lazy_libraries, \"aw\"
  .balign 8
  .quad .Llibrary
  .section .note.GNU-stack, \"\", @progbits
")
