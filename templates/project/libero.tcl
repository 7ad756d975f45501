# Synthesis of {{ v.top }} in Libero SoC for PolarFire, no vendor primitives:
#   libero SCRIPT:scripts/libero.tcl ?"SCRIPT_ARGS:vhdl"?
# With `route` among the arguments also placement, routing and timing: pins are the tool's choice then, so the ports have to fit the package.
set root [file normalize [file join [file dirname [info script]] ..]]
set vhdl [expr {"vhdl" in $argv}]
set folder [file join $root libero_project]
file delete -force $folder

new_project -location $folder -name {{ v.top }} -project_description {} -hdl [expr {$vhdl ? "VHDL" : "VERILOG"}] \
    -family PolarFire -die {{ v.polarfire()[0] }} -package {{ v.polarfire()[2] }} -speed {{ v.polarfire()[1] }} -die_voltage 1.0 -part_range EXT
import_files -hdl_source [file join $root rtl [expr {$vhdl ? "{{ v.top }}.vhd" : "{{ v.top }}.v"}]]
build_design_hierarchy
set_root -module {{ v.top }}::work
import_files -sdc [file join $root constraints clock.sdc]
foreach tool {SYNTHESIZE PLACEROUTE VERIFYTIMING} {
    organize_tool_files -tool $tool -file [file join $folder constraint clock.sdc] -module {{ v.top }}::work -input_type constraint
}
run_tool -name SYNTHESIZE
if {"route" in $argv} {
    run_tool -name PLACEROUTE
    run_tool -name VERIFYTIMING
}
save_project
close_project
