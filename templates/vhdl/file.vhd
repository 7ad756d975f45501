{%- for line in head %}
{{- line }}
{% endfor %}
{%- for table in table_entities %}
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity {{ table.0.name }} is
    port (
{%- for port in table.ports() %}
        {{ port }}
{%- endfor %}
    );
end entity {{ table.0.name }};

architecture rtl of {{ table.0.name }} is
{%- if table.0.kept %}
    attribute keep_hierarchy : string;
    attribute keep_hierarchy of rtl : architecture is "yes";
{%- endif %}
{%- for level in table.0.levels %}
    signal inputs_{{ level.number }} : unsigned({{ level.inputs.len() - 1 }} downto 0);
    signal level_{{ level.number }} : unsigned({{ level.width - 1 }} downto 0);
{%- endfor %}
{%- for piece in table.0.pieces %}
    constant t{{ piece.number }} : unsigned({{ piece.width() - 1 }} downto 0) := {{ table.values(piece) }};
{%- if !table.0.kept %}
    signal p{{ piece.number }} : std_logic;
{%- endif %}
{%- endfor %}
begin
{%- for level in table.0.levels %}
    inputs_{{ level.number }} <= {{ table.inputs(level) }};
    u_level_{{ level.number }} : entity work.{{ level.module }} port map (x => inputs_{{ level.number }}, y => level_{{ level.number }});
{%- endfor %}
{%- for piece in table.0.pieces %}
    {{ table.target(piece) }} <= t{{ piece.number }}({{ table.index(piece) }});
{%- endfor %}
{%- for bit in table.word() %}
    word({{ loop.index0 }}) <= {{ bit }};
{%- endfor %}
end architecture rtl;
{% endfor %}
{%- for entity in entities %}
{%- if let Some(layer) = entity.layer() %}
-- Layer {{ layer }}
{%- endif %}
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity {{ entity.name() }} is
{%- if entity.has_ports() %}
    port (
{%- for port in entity.ports() %}
        {{ port }}
{%- endfor %}
    );
{%- endif %}
end entity {{ entity.name() }};

architecture rtl of {{ entity.name() }} is
{%- for line in entity.attribute_declarations() %}
    {{ line }}
{%- endfor %}
{%- for rom in entity.memories() %}

    type {{ rom.type_name() }} is array (0 to {{ rom.last_address() }}) of {{ rom.subtype() }};
    constant {{ rom.name() }} : {{ rom.type_name() }} := ({{ rom.remark() }}
{%- for word in rom.array() %}
        {{ word }}
{%- endfor %}
    );
    attribute rom_style of {{ rom.name() }} : constant is "block";
    attribute syn_romstyle of {{ rom.name() }} : constant is "block_rom";
{%- endfor %}
{%- if entity.has_links() %}

    -- Between the modules
{%- for net in entity.links() %}
    signal {{ net.name() }} : {{ net.net_type() }};
{%- endfor %}
{%- endif %}
{%- for section in entity.sections() %}
{%- for rom in section.functions() %}

    type {{ rom.type_name() }} is array (0 to {{ rom.last_address() }}) of {{ rom.subtype() }};
    constant {{ rom.name() }} : {{ rom.type_name() }} := ({{ rom.remark() }}
{%- for word in rom.array() %}
        {{ word }}
{%- endfor %}
    );
{%- endfor %}
{%- if section.has_signals() %}

    -- {{ section.heading() }}
{%- for net in section.nets() %}
    signal {{ net.name() }} : {{ net.net_type() }};
{%- if let Some(address) = net.address() %}
    signal {{ address.name }} : {{ address.net_type() }};
{%- endif %}
{%- for line in net.attributes() %}
    {{ line }}
{%- endfor %}
{%- endfor %}
{%- for net in section.registers() %}
    signal {{ net.name() }} : {{ net.net_type() }}{% if net.has_initial_value() %} := {{ net.initial_value() }}{% endif %};
{%- for line in net.attributes() %}
    {{ line }}
{%- endfor %}
{%- endfor %}
{%- endif %}
{%- endfor %}
begin
{%- for section in entity.sections() %}
{%- if section.has_nets() %}

    -- {{ section.heading() }}
{{- section.net_lines() }}
{%- endif %}
{%- for group in section.groups() %}

    -- {{ group.heading() }}
    process ({{ group.sensitivity() }})
    begin
{%- if group.has_asynchronous_reset() %}
        if {{ group.reset_condition() }} then
{%- for register in group.registers() %}
            {{ register.name() }} <= {{ register.reset_value() }};
{%- endfor %}
        elsif rising_edge({{ group.clock() }}) then
{%- else %}
        if rising_edge({{ group.clock() }}) then
{%- endif %}
{%- if group.has_reset() && !group.has_asynchronous_reset() %}
            if {{ group.reset_condition() }} then
{%- for register in group.registers() %}
                {{ register.name() }} <= {{ register.reset_value() }};
{%- endfor %}
            {% if group.has_enable() %}elsif {{ group.enable_condition() }} then{% else %}else{% endif %}
{%- for register in group.registers() %}
                {{ register.name() }} <= {{ register.expression() }};{{ register.remark() }}
{%- endfor %}
            end if;
{%- else if group.has_enable() %}
            if {{ group.enable_condition() }} then
{%- for register in group.registers() %}
                {{ register.name() }} <= {{ register.expression() }};{{ register.remark() }}
{%- endfor %}
            end if;
{%- else %}
{%- for register in group.registers() %}
            {{ register.name() }} <= {{ register.expression() }};{{ register.remark() }}
{%- endfor %}
{%- endif %}
        end if;
    end process;
{%- endfor %}
{%- endfor %}
{%- for instance in entity.instances() %}

    u_{{ instance.name() }} : entity work.{{ instance.name() }}
        port map (
{%- for connection in instance.connections() %}
            {{ connection }}
{%- endfor %}
        );
{%- endfor %}
{%- if entity.drives_ports() %}

    -- Outputs
{%- for output in entity.outputs() %}
    {{ output.target() }} <= {{ output.expression() }};{{ output.remark() }}
{%- endfor %}
{%- for export in entity.exports() %}
    {{ export.port }} <= {{ export.net }};
{%- endfor %}
{%- endif %}
end architecture rtl;
{% endfor %}
