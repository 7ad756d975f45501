# Stands in for a vendor's Tcl shell: knows the commands, options and property names that our scripts may use, and refuses
# everything else. Nothing is synthesised. Usage:
#
#     tclsh vendor.tcl vivado|quartus|constraints SCRIPT PORTS ?ARGUMENT ...?
#
# PORTS is a list of `name width` pairs; a width of 0 is a single bit that is no vector. Prints a line for each command.
# The tables are written from the vendors' manuals (UG835, UG903; the Quartus Tcl reference).

set tool [lindex $argv 0]
set script [lindex $argv 1]
set ports [lindex $argv 2]
set arguments [lrange $argv 3 end]
set said {}
set delayed [dict create]
array set clocks {}

proc fail {why} {
    puts stderr "vendor.tcl: $why"
    exit 1
}

# Splits words into options and the rest by a specification: option -> number of values.
proc parse {command spec words least most} {
    set options [dict create]
    set rest {}
    for {set i 0} {$i < [llength $words]} {incr i} {
        set word [lindex $words $i]
        if {[string match -* $word] && ![string is double -strict $word]} {
            if {![dict exists $spec $word]} { fail "$command has no option $word" }
            if {[dict exists $options $word]} { fail "$command: $word twice" }
            if {[dict get $spec $word]} {
                incr i
                if {$i >= [llength $words]} { fail "$command: $word needs a value" }
                dict set options $word [lindex $words $i]
            } else {
                dict set options $word 1
            }
        } else {
            lappend rest $word
        }
    }
    if {[llength $rest] < $least || [llength $rest] > $most} { fail "$command: [llength $rest] words: $rest" }
    puts "$command $words"
    lappend ::said $command
    return [list $options $rest]
}

proc readable {command path extensions} {
    if {![file isfile $path]} { fail "$command: there is no file $path" }
    if {[file extension $path] ni $extensions} { fail "$command: $path is no [join $extensions { or }]" }
}

proc writable {command path extensions} {
    if {![file isdirectory [file dirname $path]]} { fail "$command: there is no folder for $path" }
    if {[file extension $path] ni $extensions} { fail "$command: $path should end in [join $extensions { or }]" }
}

proc part {command name} {
    if {![regexp {^xc[a-z0-9]+(-[a-z0-9]+)*$} $name]} { fail "$command: no part: $name" }
}

proc top {command name} {
    if {![regexp {^[A-Za-z][A-Za-z0-9_]*$} $name]} { fail "$command: no module name: $name" }
}

proc number {command text} {
    if {![string is double -strict $text] || $text < 0} { fail "$command: no time: $text" }
}

# --- constraints, the same for both ---
proc get_ports {pattern} {
    parse get_ports {} [list $pattern] 1 1
    foreach one $pattern {
        set vector [regexp {^(.*)\[\*\]$} $one -> base]
        if {!$vector} { set base $one }
        if {![dict exists $::ports $base]} { fail "get_ports: there is no port $base" }
        if {$vector != ([dict get $::ports $base] > 0)} { fail "get_ports: $one is written like what it is not" }
    }
    return $pattern
}
proc get_clocks {name} {
    if {![info exists ::clocks($name)]} { fail "get_clocks: there is no clock $name" }
    return $name
}
proc create_clock {args} {
    lassign [parse create_clock {-name 1 -period 1} $args 1 1] options
    number create_clock [dict get $options -period]
    set ::clocks([dict get $options -name]) 1
}
proc set_clock_uncertainty {args} {
    set spec [expr {$::tool eq "quartus" ? {-setup 0 -hold 0 -to 1 -from 1} : {-setup 0 -hold 0}}]
    lassign [parse set_clock_uncertainty $spec $args 1 2] options rest
    number set_clock_uncertainty [lindex $rest 0]
}
proc io_delay {command words} {
    lassign [parse $command {-clock 1 -max 0 -min 0} $words 2 2] options rest
    get_clocks [dict get $options -clock]
    number $command [lindex $rest 0]
    foreach port [lindex $rest 1] { dict set ::delayed $port 1 }
}
proc set_input_delay {args} { io_delay set_input_delay $args }
proc set_output_delay {args} { io_delay set_output_delay $args }
proc all_inputs {} { return all_inputs }
proc all_outputs {} { return all_outputs }
proc set_max_delay {args} {
    lassign [parse set_max_delay {-from 1 -to 1} $args 1 1] options rest
    number set_max_delay [lindex $rest 0]
}

# --- Vivado ---
if {$tool eq "vivado"} {
    set argv $arguments
    proc create_project {args} {
        lassign [parse create_project {-in_memory 0 -force 0 -part 1} $args 0 2] options rest
        part create_project [dict get $options -part]
        if {![dict exists $options -in_memory]} {
            top create_project [lindex $rest 0]
            file mkdir [lindex $rest 1]
        }
    }
    proc read_verilog {args} { readable read_verilog [lindex [parse read_verilog {-sv 0} $args 1 1] 1 0] {.v .sv} }
    proc read_vhdl {args} { readable read_vhdl [lindex [parse read_vhdl {-vhdl2008 0 -library 1} $args 1 1] 1 0] {.vhd} }
    proc read_xdc {args} {
        lassign [parse read_xdc {-mode 1 -unmanaged 0} $args 1 1] options rest
        if {[dict get $options -mode] ne "out_of_context"} { fail "read_xdc -mode [dict get $options -mode]" }
        readable read_xdc [lindex $rest 0] .xdc
        uplevel #0 [list source [lindex $rest 0]]
    }
    proc synth_design {args} {
        lassign [parse synth_design {-top 1 -part 1 -mode 1 -flatten_hierarchy 1} $args 0 0] options
        if {[dict get $options -mode] ne "out_of_context"} { fail "synth_design -mode [dict get $options -mode]" }
        top synth_design [dict get $options -top]
        part synth_design [dict get $options -part]
    }
    foreach step {opt_design place_design phys_opt_design route_design close_project} {
        proc $step {args} "parse $step {} \$args 0 0"
    }
    foreach {command spec extensions} {
        report_utilization {-file 1 -hierarchical 0} .rpt
        report_timing_summary {-file 1 -max_paths 1} .rpt
        report_power {-file 1} .rpt
        report_drc {-file 1} .rpt
    } {
        proc $command {args} "writable $command \[dict get \[lindex \[parse $command {$spec} \$args 0 0\] 0\] -file\] $extensions"
    }
    proc write_checkpoint {args} {
        writable write_checkpoint [lindex [parse write_checkpoint {-force 0} $args 1 1] 1 0] .dcp
    }
    proc add_files {args} {
        lassign [parse add_files {-fileset 1 -norecurse 0} $args 1 1] options rest
        if {[dict get $options -fileset] ni {sources_1 constrs_1 sim_1}} { fail "add_files -fileset" }
        foreach one [lindex $rest 0] {
            readable add_files $one {.v .vhd .xdc .txt .hex .dat}
            set ::added($one) 1
        }
    }
    proc get_files {name} {
        if {![info exists ::added($name)]} { fail "get_files: $name was not added" }
        return $name
    }
    proc get_filesets {name} {
        if {$name ni {sources_1 constrs_1 sim_1}} { fail "get_filesets $name" }
        return $name
    }
    proc get_runs {name} {
        if {$name ni {synth_1 impl_1}} { fail "get_runs $name" }
        return $name
    }
    proc set_property {args} {
        if {[lindex $args 0] eq "-name"} {
            lassign [parse set_property {-name 1 -value 1 -objects 1} $args 0 0] options
            set name [dict get $options -name]
            if {$name ne "xsim.simulate.xsim.more_options"} { fail "set_property $name" }
            if {![regexp {^-testplusarg "VECTORS=(/.*)"$} [dict get $options -value] -> folder]} { fail "no folder: $args" }
            foreach file [glob -directory [file join $::root tb] -tails *.txt] { readable $name [file join $folder $file] .txt }
            return
        }
        lassign [parse set_property {} [lmap w $args {string map {- ~} $w}] 3 3] options rest
        set name [lindex $rest 0]
        if {$name ni {top USED_IN {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS}}} { fail "set_property $name" }
    }
    proc update_compile_order {args} { parse update_compile_order {-fileset 1} $args 0 0 }
    set needed {
        vivado.tcl {create_project read_xdc create_clock|set_max_delay synth_design place_design route_design
            report_utilization report_timing_summary report_power write_checkpoint}
        vivado_project.tcl {create_project add_files set_property update_compile_order}
    }
}

# --- Quartus ---
if {$tool eq "quartus"} {
    set quartus(args) $arguments
    package provide ::quartus::project 1.0
    package provide ::quartus::flow 1.0
    proc project_new {args} { top project_new [lindex [parse project_new {-overwrite 0} $args 1 1] 1 0] }
    proc set_global_assignment {args} {
        lassign [parse set_global_assignment {-name 1} $args 1 1] options rest
        set value [lindex $rest 0]
        switch -- [dict get $options -name] {
            FAMILY - VHDL_INPUT_VERSION - VERILOG_INPUT_VERSION {}
            DEVICE { if {![regexp {^[A-Z0-9]+$} $value]} { fail "no device: $value" } }
            TOP_LEVEL_ENTITY { top set_global_assignment $value }
            VHDL_FILE { readable set_global_assignment $value .vhd }
            VERILOG_FILE { readable set_global_assignment $value .v }
            SDC_FILE {
                readable set_global_assignment $value .sdc
                uplevel #0 [list source $value]
            }
            default { fail "set_global_assignment -name [dict get $options -name]" }
        }
    }
    proc set_instance_assignment {args} {
        lassign [parse set_instance_assignment {-name 1 -to 1} $args 1 1] options rest
        if {[dict get $options -name] ne "VIRTUAL_PIN" || [lindex $rest 0] ne "ON"} { fail "set_instance_assignment $args" }
        get_ports [dict get $options -to]
    }
    foreach step {export_assignments project_close} { proc $step {args} "parse $step {} \$args 0 0" }
    proc execute_flow {args} { parse execute_flow {-compile 0} $args 0 0 }
    set needed {
        quartus.tcl {project_new set_global_assignment create_clock|set_max_delay export_assignments execute_flow
            project_close}
    }
}

if {![info exists needed]} { fail "no tool: $tool" }
set argv0 $script
uplevel #0 [list source $script]
foreach alternatives [dict get $needed [file tail $script]] {
    set found 0
    foreach one [split $alternatives |] { if {$one in $said} { set found 1 } }
    if {!$found} { fail "$script never says $alternatives" }
}
# Every port but the clock is constrained, if there is a clock.
if {[array size ::clocks]} {
    dict for {name width} $ports {
        set written [expr {$width > 0 ? "$name\[*\]" : $name}]
        if {![dict exists $::delayed $written] && ![info exists ::clocks($name)]} { fail "port $name has no delay" }
    }
}
puts "END"
