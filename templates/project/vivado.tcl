# Out-of-context synthesis and implementation of {{ v.top }} in Vivado, without a project on disk:
#   vivado -mode batch -source scripts/vivado.tcl ?-tclargs ?vhdl? ?DIRECTIVE ...??
# Each DIRECTIVE of place_design (Explore, ExtraTimingOpt, ...) is tried; the reports are those of the best slack. The
# exit code is 1 if no run meets the timing.
set root [file normalize [file join [file dirname [info script]] ..]]
set language [expr {"vhdl" in $argv ? "vhdl" : "verilog"}]
set directives [lsearch -all -inline -not -regexp $argv {^(verilog|vhdl)$}]
if {[llength $directives] == 0} { set directives Default }
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
{%- if v.streams.is_none() %}
puts "proof of the netlist: alir2hdl prove MODEL [file join $reports {{ v.top }}_netlist.v]{% if !v.stateful %} --rtl [file join $root rtl {{ v.top }}.v]{% endif %} --cells xilinx"
{%- endif %}

set best {}
foreach directive $directives {
    if {$directive ne [lindex $directives 0]} {
        close_project
        open_checkpoint [file join $reports {{ v.top }}_synth.dcp]
    }
{%- if let Some(clock) = v.clock %}
    # The clock enters from a global buffer of the design around this block.
    set buffers [lsort -dictionary [get_sites -quiet -filter {SITE_TYPE == BUFGCTRL || SITE_TYPE == BUFGCE}]]
    if {[llength $buffers] > 0} { set_property HD.CLK_SRC [lindex $buffers 0] [get_ports {{ clock }}] }
{%- endif %}
    opt_design
    place_design -directive $directive
    phys_opt_design
    route_design
    set path [get_timing_paths -quiet -max_paths 1 -delay_type max]
    set slack [expr {[llength $path] > 0 ? [get_property SLACK $path] : 0.0}]
    puts "$directive: worst setup slack $slack ns"
    if {$best ne {} && $slack <= $best} { continue }
    set best $slack
    report_utilization -file [file join $reports utilization.rpt]
    report_timing_summary -max_paths 10 -file [file join $reports timing.rpt]
    report_methodology -file [file join $reports methodology.rpt]
    report_cdc -file [file join $reports cdc.rpt]
    report_power -file [file join $reports power.rpt]
    report_drc -file [file join $reports drc.rpt]
    write_checkpoint -force [file join $reports {{ v.top }}.dcp]
}
if {$best < 0} {
    puts "ERROR: timing is not met: the worst setup slack is $best ns"
    exit 1
}
