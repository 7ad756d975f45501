# A bitstream for {{ b.name }}: the processor, a DMA engine, and {{ v.top }} between its two streams.
#   vivado -mode batch -source scripts/board.tcl
# Fails on negative slack; else leaves board/{{ v.top }}.bit and .hwh, which board/driver.py takes to the board.
set root [file normalize [file join [file dirname [info script]] ..]]
set results [file join $root board]
set folder [file join $root vivado_board]

create_project -force -part {{ v.vivado_part }} {{ v.top }}_board $folder
# The files of the board bring memory and pins of the processor.
set boards [get_board_parts -quiet -latest_file_version {{ "{" }}{{ b.board_part }}{{ "}" }}]
if {[llength $boards] == 0} {
    error "Vivado has no files of this board ({{ b.board_part }}): install them by Tools, Vivado Store, Boards"
}
set_property board_part [lindex $boards 0] [current_project]
add_files -fileset sources_1 [list [file join $root rtl {{ v.top }}.v]]
update_compile_order -fileset sources_1

# The newest version of an IP core that this Vivado has.
proc ip {name cell} {
    return [create_bd_cell -type ip -vlnv [lindex [lsort -dictionary [get_ipdefs -all xilinx.com:ip:$name:*]] end] $cell]
}
create_bd_design system

{% if b.ultrascale -%}
ip zynq_ultra_ps_e ps
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset 1} [get_bd_cells ps]
set_property -dict [list CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 CONFIG.PSU__USE__M_AXI_GP2 0 \
    CONFIG.PSU__USE__S_AXI_GP2 1 CONFIG.PSU__SAXIGP2__DATA_WIDTH 64 \
    CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ {{ v.frequency }}] [get_bd_cells ps]
set clock ps/pl_clk0
set reset ps/pl_resetn0
set processor_clocks {ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk}
set control ps/M_AXI_HPM0_FPD
set memory ps/S_AXI_HP0_FPD
{%- else -%}
ip processing_system7 ps
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
    -config {make_external "FIXED_IO, DDR" apply_board_preset 1 Master Disable Slave Disable} [get_bd_cells ps]
set_property -dict [list CONFIG.PCW_USE_M_AXI_GP0 1 CONFIG.PCW_USE_S_AXI_HP0 1 CONFIG.PCW_S_AXI_HP0_DATA_WIDTH 64 \
    CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ {{ v.frequency }}] [get_bd_cells ps]
set clock ps/FCLK_CLK0
set reset ps/FCLK_RESET0_N
set processor_clocks {ps/M_AXI_GP0_ACLK ps/S_AXI_HP0_ACLK}
set control ps/M_AXI_GP0
set memory ps/S_AXI_HP0
{%- endif %}

ip axi_dma dma
set_property -dict [list CONFIG.c_include_sg 0 CONFIG.c_sg_length_width 26 CONFIG.c_m_axi_mm2s_data_width 64 \
    CONFIG.c_m_axi_s2mm_data_width 64 CONFIG.c_m_axis_mm2s_tdata_width {{ v.stream }}] [get_bd_cells dma]
ip smartconnect to_control
set_property -dict [list CONFIG.NUM_SI 1 CONFIG.NUM_MI 1] [get_bd_cells to_control]
ip smartconnect to_memory
set_property -dict [list CONFIG.NUM_SI 2 CONFIG.NUM_MI 1] [get_bd_cells to_memory]
ip proc_sys_reset resets
create_bd_cell -type module -reference {{ v.top }} model

# Samples go out of memory through MM2S, results come back through S2MM.
foreach {from to} [list \
    $control to_control/S00_AXI to_control/M00_AXI dma/S_AXI_LITE \
    dma/M_AXI_MM2S to_memory/S00_AXI dma/M_AXI_S2MM to_memory/S01_AXI to_memory/M00_AXI $memory \
    dma/M_AXIS_MM2S model/{{ v.stream_names().input }} model/{{ v.stream_names().output }} dma/S_AXIS_S2MM] {
    connect_bd_intf_net [get_bd_intf_pins $from] [get_bd_intf_pins $to]
}
foreach pin [concat $processor_clocks {dma/s_axi_lite_aclk dma/m_axi_mm2s_aclk dma/m_axi_s2mm_aclk to_control/aclk to_memory/aclk
    resets/slowest_sync_clk model/{{ v.stream_names().clock }}}] {
    connect_bd_net [get_bd_pins $clock] [get_bd_pins $pin]
}
connect_bd_net [get_bd_pins $reset] [get_bd_pins resets/ext_reset_in]
foreach pin {dma/axi_resetn to_control/aresetn to_memory/aresetn model/{{ v.stream_names().reset }}} {
    connect_bd_net [get_bd_pins resets/peripheral_aresetn] [get_bd_pins $pin]
}
assign_bd_address
validate_bd_design
save_bd_design

add_files -fileset sources_1 -norecurse [make_wrapper -files [get_files system.bd] -top]
set_property top system_wrapper [get_filesets sources_1]
update_compile_order -fileset sources_1
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "the implementation did not come to its end" }
foreach {kind statistic} {setup STATS.WNS hold STATS.WHS} {
    set slack [get_property $statistic [get_runs impl_1]]
    if {[string is double -strict $slack] && $slack < 0} {
        error "timing is not met: the worst $kind slack is $slack ns; the bitstream stays in [get_property DIRECTORY [get_runs impl_1]]"
    }
}
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] system_wrapper.bit] [file join $results {{ v.top }}.bit]
file copy -force [lindex [glob [file join $folder *.gen sources_1 bd system hw_handoff system.hwh]] 0] [file join $results {{ v.top }}.hwh]
close_project
