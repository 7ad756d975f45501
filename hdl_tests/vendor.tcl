# Stands in for a vendor's Tcl shell: knows the commands, options and property names that our scripts may use, and refuses
# everything else. Nothing is synthesised. Usage:
#
#     tclsh vendor.tcl vivado|quartus|libero SCRIPT PORTS ?ARGUMENT ...?
#
# PORTS is a list of `name width` pairs; a width of 0 is a single bit that is no vector. Prints a line for each command.
# The tables are written from the vendors' manuals (UG835, UG903, UG994, PG021; the Quartus Tcl reference).

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
    if {![regexp {^xc[a-z0-9]+(-[a-zA-Z0-9]+)*$} $name]} { fail "$command: no part: $name" }
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
    set spec [expr {$::tool ne "vivado" ? {-setup 0 -hold 0 -to 1 -from 1} : {-setup 0 -hold 0}}]
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
    foreach step {opt_design phys_opt_design route_design close_project} {
        proc $step {args} "parse $step {} \$args 0 0"
    }
    proc place_design {args} { parse place_design {-directive 1} $args 0 0 }
    proc open_checkpoint {path} {
        if {$path ni $::checkpoints} { fail "open_checkpoint: $path was not written" }
        parse open_checkpoint {} [list $path] 1 1
    }
    proc get_sites {args} {
        parse get_sites {-quiet 0 -filter 1} $args 0 0
        return {BUFGCE_X0Y10 BUFGCE_X0Y2}
    }
    # Slacks of the runs, in turn: the environment states them.
    set slacks [expr {[info exists env(SLACKS)] ? $env(SLACKS) : 0.1}]
    proc get_timing_paths {args} {
        parse get_timing_paths {-quiet 0 -max_paths 1 -delay_type 1} $args 0 0
        set ::slack [lindex $::slacks 0]
        set ::slacks [concat [lrange $::slacks 1 end] $::slack]
        return path
    }
    foreach {command spec extensions} {
        report_utilization {-file 1 -hierarchical 0} .rpt
        report_timing_summary {-file 1 -max_paths 1} .rpt
        report_methodology {-file 1} .rpt
        report_cdc {-file 1} .rpt
        report_power {-file 1} .rpt
        report_drc {-file 1} .rpt
    } {
        proc $command {args} "writable $command \[dict get \[lindex \[parse $command {$spec} \$args 0 0\] 0\] -file\] $extensions"
    }
    proc write_verilog {args} {
        writable write_verilog [lindex [parse write_verilog {-force 0 -mode 1} $args 1 1] 1 0] .v
    }
    set checkpoints {}
    proc write_checkpoint {args} {
        set path [lindex [parse write_checkpoint {-force 0} $args 1 1] 1 0]
        writable write_checkpoint $path .dcp
        lappend ::checkpoints $path
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
        if {[lindex $args 0] eq "-dict"} {
            configure [lindex $args 2] [lindex $args 1]
            return
        }
        lassign [parse set_property {} [lmap w $args {string map {- ~} $w}] 3 3] options rest
        set name [lindex $rest 0]
        if {$name eq "HD.CLK_SRC"} {
            if {[lindex $rest 1] ne "BUFGCE_X0Y2" || ![info exists ::clocks([lindex $rest 2])]} { fail "set_property $args" }
            return
        }
        if {$name ni {top board_part USED_IN {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS}}} { fail "set_property $name" }
    }
    proc update_compile_order {args} { parse update_compile_order {-fileset 1} $args 0 0 }

    # Block designs (UG994, UG895): cells of IP cores with the interfaces and pins that we may use, what has been connected, and
    # what has to be by the end. Directions: `m` drives an interface, `s` is driven; `o` drives a pin, `i` is driven.
    set cores {
        zynq_ultra_ps_e {M_AXI_HPM0_FPD m S_AXI_HP0_FPD s pl_clk0 o pl_resetn0 o maxihpm0_fpd_aclk i saxihp0_fpd_aclk i}
        processing_system7 {M_AXI_GP0 m S_AXI_HP0 s FCLK_CLK0 o FCLK_RESET0_N o M_AXI_GP0_ACLK i S_AXI_HP0_ACLK i}
        axi_dma {S_AXI_LITE s M_AXI_MM2S m M_AXI_S2MM m M_AXIS_MM2S m S_AXIS_S2MM s s_axi_lite_aclk i m_axi_mm2s_aclk i
            m_axi_s2mm_aclk i axi_resetn i}
        smartconnect {aclk i aresetn i}
        proc_sys_reset {slowest_sync_clk i ext_reset_in i peripheral_aresetn o}
    }
    set parameters {
        zynq_ultra_ps_e {PSU__USE__M_AXI_GP0 PSU__USE__M_AXI_GP1 PSU__USE__M_AXI_GP2 PSU__USE__S_AXI_GP2
            PSU__SAXIGP2__DATA_WIDTH PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ}
        processing_system7 {PCW_USE_M_AXI_GP0 PCW_USE_S_AXI_HP0 PCW_S_AXI_HP0_DATA_WIDTH PCW_FPGA0_PERIPHERAL_FREQMHZ}
        axi_dma {c_include_sg c_sg_length_width c_m_axi_mm2s_data_width c_m_axi_s2mm_data_width c_m_axis_mm2s_tdata_width}
        smartconnect {NUM_SI NUM_MI}
    }
    proc get_board_parts {args} {
        lassign [parse get_board_parts {-quiet 0 -latest_file_version 0} $args 1 1] options rest
        return [string map {* x} [lindex $rest 0]]
    }
    proc current_project {} { return project }
    proc get_ipdefs {args} {
        lassign [parse get_ipdefs {-all 0} $args 1 1] options rest
        if {![regexp {^xilinx.com:ip:([a-z0-9_]+):\*$} [lindex $rest 0] -> core]} { fail "get_ipdefs $args" }
        if {![dict exists $::cores $core]} { fail "get_ipdefs: there is no core $core" }
        return [list xilinx.com:ip:$core:1.0 xilinx.com:ip:$core:1.10]
    }
    proc create_bd_design {name} { parse create_bd_design {} [list $name] 1 1 }
    proc create_bd_cell {args} {
        lassign [parse create_bd_cell {-type 1 -vlnv 1 -reference 1} $args 1 1] options rest
        set cell [lindex $rest 0]
        if {[dict get $options -type] eq "module"} {
            # A module's interfaces and pins are those of its file.
            set file [lindex [array names ::added *.v] 0]
            if {[file rootname [file tail $file]] ne [dict get $options -reference]} { fail "create_bd_cell: no module" }
            # Clocks and resets are those whose attributes say so (UG994); a stream is a group of ports with a common prefix.
            set channel [open $file]
            set text [read $channel]
            close $channel
            set ::pins($cell) {}
            set controls {}
            foreach kind {clock reset} signal {CLK RST} {
                if {![regexp "\"xilinx.com:signal:$kind:1.0 (\\w+) $signal\"" $text -> name]} { fail "create_bd_cell: no $kind" }
                lappend controls $name
                lappend ::pins($cell) $name i
            }
            if {![regexp {"ASSOCIATED_BUSIF (\w+):(\w+), ASSOCIATED_RESET (\w+)"} $text -> input output reset]} {
                fail "create_bd_cell: no clock of the streams"
            }
            if {$reset ne [lindex $controls 1]} { fail "create_bd_cell: $reset is no reset" }
            lappend ::pins($cell) $input s $output m
            dict for {name width} $::ports {
                if {$name in $controls} { continue }
                if {![regexp {^(\w+)_t(data|valid|ready|last|user)$} $name -> prefix] || $prefix ni [list $input $output]} {
                    fail "port $name is no stream's"
                }
            }
            dict set ::stream [dict get $::ports ${input}_tdata] 1
        } else {
            set core [lindex [split [dict get $options -vlnv] :] 2]
            if {![string match *:1.10 [dict get $options -vlnv]]} { fail "create_bd_cell: not the newest $core" }
            set ::core($cell) $core
            set ::pins($cell) [dict get $::cores $core]
        }
        return $cell
    }
    proc get_bd_cells {name} {
        if {![info exists ::pins($name)]} { fail "get_bd_cells: there is no $name" }
        return $name
    }
    proc apply_bd_automation {args} {
        lassign [parse apply_bd_automation {-rule 1 -config 1} $args 1 1] options rest
        if {[dict get $options -rule] ne "xilinx.com:bd_rule:$::core([lindex $rest 0])"} { fail "apply_bd_automation $args" }
        if {[dict get [dict get $options -config] apply_board_preset] != 1} { fail "no preset of the board" }
    }
    proc configure {cell values} {
        dict for {name value} $values {
            if {![regexp {^CONFIG\.(.*)$} $name -> name]} { fail "set_property -dict: $name is no parameter" }
            if {$name ni [dict get $::parameters $::core($cell)]} { fail "$::core($cell) has no parameter $name" }
            number "set_property $name" $value
            # Interfaces of a smartconnect are there once they are counted.
            if {$name in {NUM_SI NUM_MI}} {
                for {set k 0} {$k < $value} {incr k} {
                    lappend ::pins($cell) [format "%s%02d_AXI" [string index $name 4] $k] [expr {$name eq "NUM_SI" ? "s" : "m"}]
                }
            }
            if {$name eq "c_m_axis_mm2s_tdata_width"} { dict set ::stream $value 1 }
        }
    }
    proc pin {path kinds} {
        lassign [split $path /] cell name
        if {![info exists ::pins($cell)]} { fail "there is no cell $cell" }
        if {![dict exists $::pins($cell) $name]} { fail "$cell has no $name" }
        if {[dict get $::pins($cell) $name] ni $kinds} { fail "$path is of another kind" }
        return $path
    }
    proc get_bd_intf_pins {path} { return [pin $path {m s}] }
    proc get_bd_pins {path} { return [pin $path {o i}] }
    proc connect {command words driver driven} {
        lassign [lindex [parse $command {} $words 2 2] 1] from to
        foreach {path kind} [list $from $driver $to $driven] {
            lassign [split $path /] cell name
            if {[dict get $::pins($cell) $name] ne $kind} { fail "$command: $from to $to goes the wrong way" }
        }
        if {[info exists ::connected($to)]} { fail "$command: $to is connected twice" }
        set ::connected($to) $from
        set ::connected($from) $to
    }
    proc connect_bd_intf_net {args} { connect connect_bd_intf_net $args m s }
    proc connect_bd_net {args} { connect connect_bd_net $args o i }
    proc assign_bd_address {args} { parse assign_bd_address {} $args 0 0 }
    proc validate_bd_design {args} {
        parse validate_bd_design {} $args 0 0
        foreach {cell names} [array get ::pins] {
            foreach {name kind} $names {
                if {![info exists ::connected($cell/$name)]} { fail "$cell/$name is not connected" }
            }
        }
        if {[dict size $::stream] != 1} { fail "the widths of the streams differ: [dict keys $::stream]" }
        set ::validated 1
    }
    proc save_bd_design {args} {
        parse save_bd_design {} $args 0 0
        if {![info exists ::validated]} { fail "save_bd_design before validate_bd_design" }
        set ::added(system.bd) 1
    }
    proc make_wrapper {args} {
        lassign [parse make_wrapper {-files 1 -top 0} $args 0 0] options
        set wrapper [file join $::folder system_wrapper.v]
        file mkdir $::folder
        close [open $wrapper w]
        return $wrapper
    }
    proc launch_runs {args} {
        lassign [parse launch_runs {-to_step 1 -jobs 1} $args 1 1] options rest
        if {[dict get $options -to_step] ne "write_bitstream"} { fail "launch_runs: no bitstream" }
        get_runs [lindex $rest 0]
    }
    # What an implementation leaves behind, empty.
    proc wait_on_run {name} {
        parse wait_on_run {} [list [get_runs $name]] 1 1
        file mkdir [file join $::folder runs] [file join $::folder x.gen sources_1 bd system hw_handoff]
        close [open [file join $::folder runs system_wrapper.bit] w]
        close [open [file join $::folder x.gen sources_1 bd system hw_handoff system.hwh] w]
    }
    proc get_property {name object} {
        switch -- $name {
            PROGRESS { return 100% }
            SLACK { return $::slack }
            STATS.WNS { return [lindex $::slacks 0] }
            STATS.WHS { return [lindex $::slacks end] }
            DIRECTORY { return [file join $::folder runs] }
            default { fail "get_property $name" }
        }
    }
    set needed {
        vivado.tcl {create_project read_xdc create_clock|set_max_delay synth_design place_design route_design
            report_utilization report_timing_summary report_methodology report_cdc report_power write_checkpoint}
        vivado_project.tcl {create_project add_files set_property update_compile_order}
        board.tcl {create_project create_bd_design assign_bd_address validate_bd_design save_bd_design launch_runs wait_on_run}
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
    package provide ::quartus::report 1.0
    # One panel for each operating condition; row 0 has the titles.
    set slacks [expr {[info exists env(SLACKS)] ? $env(SLACKS) : 0.1}]
    foreach step {load_report unload_report} { proc $step {args} "parse $step {} \$args 0 0" }
    proc get_report_panel_names {} {
        set names {{Flow Summary}}
        for {set k 0} {$k < [llength $::slacks]} {incr k} {
            lappend names "Timing Analyzer||Model $k||Model $k Setup Summary" "Timing Analyzer||Model $k||Model $k Hold Summary"
        }
        return $names
    }
    proc panel {command name} {
        if {![regexp {Model ([0-9]+) Setup Summary$} $name -> k]} { fail "$command: no panel of setup slacks: $name" }
        return $k
    }
    proc get_number_of_rows {args} {
        lassign [parse get_number_of_rows {-name 1} $args 0 0] options
        panel get_number_of_rows [dict get $options -name]
        return 2
    }
    proc get_report_panel_data {args} {
        lassign [parse get_report_panel_data {-name 1 -row 1 -col_name 1} $args 0 0] options
        set k [panel get_report_panel_data [dict get $options -name]]
        if {[dict get $options -row] != 1 || [dict get $options -col_name] ne "Slack"} { fail "get_report_panel_data $args" }
        return [lindex $::slacks $k]
    }
    proc qexit {args} { parse qexit {-error 0 -success 0} $args 0 0; exit [expr {"-error" in $args}] }
    foreach step {export_assignments project_close} { proc $step {args} "parse $step {} \$args 0 0" }
    proc execute_flow {args} { parse execute_flow {-compile 0} $args 0 0 }
    set needed {
        quartus.tcl {project_new set_global_assignment create_clock|set_max_delay export_assignments execute_flow
            project_close}
    }
}

# --- Libero SoC (its Tcl command reference) ---
if {$tool eq "libero"} {
    set argv $arguments
    proc new_project {args} {
        lassign [parse new_project {-location 1 -name 1 -project_description 1 -hdl 1 -family 1 -die 1 -package 1 -speed 1
            -die_voltage 1 -part_range 1} [lmap w $args {string map {-1 grade1} $w}] 0 0] options
        top new_project [dict get $options -name]
        if {[dict get $options -hdl] ni {VERILOG VHDL}} { fail "new_project -hdl" }
        if {[dict get $options -family] ne "PolarFire"} { fail "new_project -family" }
        if {![regexp {^MPF[0-9]{3}TS?L?$} [dict get $options -die]]} { fail "new_project: no die: $args" }
        if {![regexp {^FC[A-Z]*[0-9]+$} [dict get $options -package]]} { fail "new_project: no package: $args" }
        if {[dict get $options -speed] ni {STD grade1}} { fail "new_project: no speed: $args" }
        set ::project [dict get $options -location]
        file mkdir [file join $::project constraint]
    }
    proc import_files {args} {
        lassign [parse import_files {-hdl_source 1 -sdc 1} $args 0 0] options
        dict for {kind file} $options {
            readable import_files $file [expr {$kind eq "-sdc" ? ".sdc" : {.v .vhd}}]
            if {$kind eq "-sdc"} {
                file copy -force $file [file join $::project constraint]
                uplevel #0 [list source $file]
            }
        }
    }
    proc set_root {args} { top set_root [regsub {::work$} [dict get [lindex [parse set_root {-module 1} $args 0 0] 0] -module] {}] }
    proc organize_tool_files {args} {
        lassign [parse organize_tool_files {-tool 1 -file 1 -module 1 -input_type 1} $args 0 0] options
        if {[dict get $options -tool] ni {SYNTHESIZE PLACEROUTE VERIFYTIMING}} { fail "organize_tool_files -tool" }
        readable organize_tool_files [dict get $options -file] .sdc
    }
    proc run_tool {args} {
        lassign [parse run_tool {-name 1} $args 0 0] options
        if {[dict get $options -name] ni {SYNTHESIZE PLACEROUTE VERIFYTIMING}} { fail "run_tool -name" }
    }
    foreach step {build_design_hierarchy save_project close_project} { proc $step {args} "parse $step {} \$args 0 0" }
    set needed {
        libero.tcl {new_project import_files build_design_hierarchy set_root create_clock|set_max_delay organize_tool_files run_tool
            save_project close_project}
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
