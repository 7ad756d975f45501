-- Instantiation template of {{ v.top }} for VHDL: declarations, then the instance. The library may be another one than `work`.
{%- for port in v.ports %}
    signal {{ port.name }} : {% if let Some(hi) = port.hi %}std_logic_vector({{ hi }} downto 0){% else %}std_logic{% endif %};
{%- endfor %}

    u_{{ v.top }} : entity work.{{ v.top }}{% if v.ports.is_empty() %};{% else %}
        port map (
{%- for port in v.ports %}
            {{ port.name }} => {{ port.name }}{% if !loop.last %},{% endif %}
{%- endfor %}
        );
{%- endif %}
