# Out-of-context synthesis and implementation of {{ v.top }} in Vivado, without a project on disk:
#   vivado -mode batch -source scripts/vivado.tcl ?-tclargs vhdl?
set root [file normalize [file join [file dirname [info script]] ..]]
set language [expr {[llength $argv] > 0 ? [lindex $argv 0] : "verilog"}]
set reports [file join $root reports vivado]
file mkdir $reports

create_project -in_memory -part {{ v.vivado_part }}
if {$language eq "vhdl"} {
    read_vhdl [file join $root rtl {{ v.top }}.vhd]
} else {
    read_verilog [file join $root rtl {{ v.top }}.v]
}
read_xdc -mode out_of_context [file join $root constraints clock.xdc]

synth_design -top {{ v.top }} -part {{ v.vivado_part }} -mode out_of_context
report_utilization -file [file join $reports utilization_synth.rpt]
report_timing_summary -file [file join $reports timing_synth.rpt]
write_checkpoint -force [file join $reports {{ v.top }}_synth.dcp]
write_verilog -force -mode funcsim [file join $reports {{ v.top }}_netlist.v]
{%- if !v.axis && !v.stateful %}
puts "proof of the netlist: alir2hdl prove MODEL [file join $reports {{ v.top }}_netlist.v] --rtl [file join $root rtl {{ v.top }}.v] --cells xilinx"
{%- endif %}

opt_design
place_design
phys_opt_design
route_design
report_utilization -file [file join $reports utilization.rpt]
report_timing_summary -max_paths 10 -file [file join $reports timing.rpt]
report_power -file [file join $reports power.rpt]
report_drc -file [file join $reports drc.rpt]
write_checkpoint -force [file join $reports {{ v.top }}.dcp]
