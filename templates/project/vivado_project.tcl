# A Vivado project on disk for {{ v.top }}, to open in the graphical interface:
#   vivado -mode batch -source scripts/vivado_project.tcl
set root [file normalize [file join [file dirname [info script]] ..]]

create_project -force -part {{ v.vivado_part }} {{ v.top }} [file join $root vivado_project]
add_files -fileset sources_1 [list [file join $root rtl {{ v.top }}.v]]
add_files -fileset constrs_1 [list [file join $root constraints clock.xdc]]
set_property USED_IN {synthesis implementation out_of_context} [get_files [file join $root constraints clock.xdc]]
add_files -fileset sim_1 [list [file join $root tb bench.v]]
{%- for file in v.data_files %}
add_files -fileset sim_1 [list [file join $root tb {{ file }}]]
{%- endfor %}
set_property top {{ v.top }} [get_filesets sources_1]
set_property top {{ v.bench }} [get_filesets sim_1]
# The simulator runs in a folder of its own: the testbench is told where its vectors are.
set_property -name {xsim.simulate.xsim.more_options} -value "-testplusarg \"VECTORS=[file join $root tb]\"" -objects [get_filesets sim_1]
set_property {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} {-mode out_of_context} [get_runs synth_1]
update_compile_order -fileset sources_1
update_compile_order -fileset sim_1
close_project
