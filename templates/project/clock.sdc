# Constraints of {{ v.top }} by itself.
{%- if let Some(clock) = v.clock %}
create_clock -name {{ clock }} -period {{ v.period }} [get_ports {{ "{" }}{{ clock }}{{ "}" }}]
{%- if let Some(uncertainty) = v.uncertainty %}
set_clock_uncertainty -setup {{ uncertainty }} -to [get_clocks {{ "{" }}{{ clock }}{{ "}" }}]
{%- endif %}
{%- for port in v.data_ports() %}
{%- if port.input %}
set_input_delay -clock {{ clock }} {{ v.input_delay }} [get_ports {{ "{" }}{{ port.name }}{% if port.hi.is_some() %}[*]{% endif %}{{ "}" }}]
{%- else %}
set_output_delay -clock {{ clock }} {{ v.output_delay }} [get_ports {{ "{" }}{{ port.name }}{% if port.hi.is_some() %}[*]{% endif %}{{ "}" }}]
{%- endif %}
{%- endfor %}
{%- else %}
# There is no register: the whole path has what inputs, outputs and uncertainty leave of a clock.
set_max_delay -from [all_inputs] -to [all_outputs] {{ v.path }}
{%- endif %}
