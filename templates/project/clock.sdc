# Constraints of {{ v.top }} by itself.
{%- if let Some(clock) = v.clock %}
create_clock -name {{ clock }} -period {{ v.period }} [get_ports {{ "{" }}{{ clock }}{{ "}" }}]
set_clock_uncertainty -setup {{ v.uncertainty }} -to [get_clocks {{ "{" }}{{ clock }}{{ "}" }}]
{%- for port in v.data_ports() %}
{%- if port.input %}
set_input_delay -clock {{ clock }} {{ v.io_delay }} [get_ports {{ "{" }}{{ port.name }}{% if port.hi.is_some() %}[*]{% endif %}{{ "}" }}]
{%- else %}
set_output_delay -clock {{ clock }} {{ v.io_delay }} [get_ports {{ "{" }}{{ port.name }}{% if port.hi.is_some() %}[*]{% endif %}{{ "}" }}]
{%- endif %}
{%- endfor %}
{%- else %}
# There is no register: the whole path has the time of a clock.
set_max_delay -from [all_inputs] -to [all_outputs] {{ v.period }}
{%- endif %}
