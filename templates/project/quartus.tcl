# Compilation of {{ v.top }} in Quartus with virtual pins:
#   quartus_sh -t scripts/quartus.tcl ?vhdl?
package require ::quartus::project
package require ::quartus::flow
package require ::quartus::report
set root [file normalize [file join [file dirname [info script]] ..]]
set language [expr {[llength $quartus(args)] > 0 ? [lindex $quartus(args) 0] : "verilog"}]
set reports [file join $root reports quartus]
file mkdir $reports
cd $reports

project_new {{ v.top }} -overwrite
set_global_assignment -name FAMILY "{{ v.quartus_family }}"
set_global_assignment -name DEVICE {{ v.quartus_part }}
set_global_assignment -name TOP_LEVEL_ENTITY {{ v.top }}
if {$language eq "vhdl"} {
    set_global_assignment -name VHDL_INPUT_VERSION VHDL_2008
    set_global_assignment -name VHDL_FILE [file join $root rtl {{ v.top }}.vhd]
} else {
    set_global_assignment -name VERILOG_INPUT_VERSION VERILOG_2001
    set_global_assignment -name VERILOG_FILE [file join $root rtl {{ v.top }}.v]
}
set_global_assignment -name SDC_FILE [file join $root constraints clock.sdc]
{%- for port in v.data_ports() %}
set_instance_assignment -name VIRTUAL_PIN ON -to {{ "{" }}{{ port.name }}{% if port.hi.is_some() %}[*]{% endif %}{{ "}" }}
{%- endfor %}
export_assignments
execute_flow -compile

# The worst setup slack of all clocks and operating conditions.
load_report
set worst {}
foreach name [lsearch -all -inline -regexp [get_report_panel_names] {Setup Summary$}] {
    for {set row 1} {$row < [get_number_of_rows -name $name]} {incr row} {
        set slack [get_report_panel_data -name $name -row $row -col_name Slack]
        if {[string is double -strict $slack] && ($worst eq {} || $slack < $worst)} { set worst $slack }
    }
}
unload_report
{%- if v.streams.is_none() %}
puts "netlist: quartus_eda --simulation --tool=modelsim_oem --format=verilog --output_directory=[file join $reports netlist] {{ v.top }}"
puts "proof of the netlist: alir2hdl prove MODEL [file join $reports netlist {{ v.top }}.vo]{% if !v.stateful %} --rtl [file join $root rtl {{ v.top }}.v]{% endif %} --cells intel"
{%- endif %}
project_close
if {$worst eq {}} {
    puts "no setup slack was reported"
} else {
    puts "worst setup slack $worst ns"
    if {$worst < 0} {
        puts "ERROR: timing is not met: the worst setup slack is $worst ns"
        qexit -error
    }
}
