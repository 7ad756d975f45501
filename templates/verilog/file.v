{%- for line in head %}
{{- line }}
{% endfor %}
`default_nettype none
{%- for table in table_modules %}

{% if table.0.kept %}(* keep_hierarchy = "yes" *)
{% endif -%}
module {{ table.0.name }} (
{%- for port in table.ports() %}
    {{ port }}
{%- endfor %}
);
{%- if table.has_unread_bits() %}
    wire unused_bits = {{ table.unread_bits() }};
{%- endif %}
{%- for level in table.0.levels %}
    wire [{{ level.width - 1 }}:0] level_{{ level.number }};
    {{ table.instance(level) }}
{%- endfor %}
{%- for piece in table.0.pieces %}
    wire [{{ piece.width() - 1 }}:0] t{{ piece.number }} = {{ table.values(piece) }};
    {{ table.target(piece) }} = t{{ piece.number }}[{{ table.index(piece) }}];
{%- endfor %}
{%- if !table.0.kept %}
    assign word = {{ table.word() }};
{%- endif %}
endmodule
{%- endfor %}
{%- for module in modules %}

{% if let Some(layer) = module.layer() %}// Layer {{ layer }}
{% endif -%}
{% if let Some(attributes) = module.attributes() %}{{ attributes }}
{% endif -%}
module {{ module.name() }} (
{%- for port in module.ports() %}
    {{ port }}
{%- endfor %}
);
{%- if let Some([latency, interval]) = module.constants() %}
    localparam {{ module.constant_type() }} LATENCY = {{ latency }};
    localparam {{ module.constant_type() }} INITIATION_INTERVAL = {{ interval }};
    wire unused_constants = &{1'b0, LATENCY, INITIATION_INTERVAL};
{%- endif %}
{%- if module.has_memories() %}

    // Tables
{%- for rom in module.memories() %}
    {{ rom.attributes() }}{{ module.variable() }} {{ rom.range() }}{{ rom.name() }} [0:{{ rom.last_address() }}];{{ rom.remark() }}
{%- for block in rom.blocks() %}
    initial begin
{%- for word in block %}
        {{ rom.name() }}[{{ word.label }}] = {{ word.value }};
{%- endfor %}
    end
{%- endfor %}
{%- endfor %}
{%- endif %}
{%- if module.has_early_registers() %}

    // Registers that feed back
{%- for net in module.early_registers() %}
    {{ net.register_attributes() }}{{ module.variable() }} {{ net.net_type() }}{{ net.name() }};{{ net.remark() }}
{%- endfor %}
{%- endif %}
{%- if module.has_links() %}

    // Between the modules
{%- for net in module.links() %}
    wire {{ net.net_type() }}{{ net.name() }};{{ net.remark() }}
{%- endfor %}
{%- endif %}
{%- for section in module.sections() %}
{%- if section.has_nets() %}

    // {{ section.heading() }}
{%- endif %}
{{- section.net_lines() }}
{%- if section.has_functions() %}

    // Tables
{%- for rom in section.functions() %}
    function automatic {{ rom.data_type() }}{{ rom.range() }}{{ rom.name() }};{{ rom.remark() }}
        input {{ rom.address_type() }}rom_address;
        {{ rom.case_attributes() }}case (rom_address)
{%- for word in rom.cases() %}
            {{ word.label }}: {{ rom.name() }} = {{ word.value }};
{%- endfor %}
            default: {{ rom.name() }} = {{ rom.zero() }};
        endcase
    endfunction
{%- endfor %}
{%- endif %}
{%- for group in section.groups() %}

    // {{ group.heading() }}
{%- for net in group.declared_here() %}
    {{ net.register_attributes() }}{{ module.variable() }} {{ net.net_type() }}{{ net.name() }};{{ net.remark() }}
{%- endfor %}
{%- if group.has_initial_values() %}
    initial begin
{%- for register in group.registers() %}
{%- if register.has_initial_value() %}
        {{ register.name() }} = {{ register.initial_value() }};
{%- endif %}
{%- endfor %}
    end
{%- endif %}
    {{ group.always() }} @({{ group.events() }}) begin
{%- if group.has_reset() %}
        if ({{ group.reset_condition() }}) begin
{%- for register in group.registers() %}
            {{ register.name() }} <= {{ register.reset_value() }};
{%- endfor %}
        end else {% if group.has_enable() %}if ({{ group.enable_condition() }}) {% endif %}begin
{%- for register in group.registers() %}
            {{ register.name() }} <= {{ register.expression() }};
{%- endfor %}
        end
{%- else if group.has_enable() %}
        if ({{ group.enable_condition() }}) begin
{%- for register in group.registers() %}
            {{ register.name() }} <= {{ register.expression() }};
{%- endfor %}
        end
{%- else %}
{%- for register in group.registers() %}
        {{ register.name() }} <= {{ register.expression() }};
{%- endfor %}
{%- endif %}
    end
{%- endfor %}
{%- endfor %}
{%- for instance in module.instances() %}

    {{ instance.name() }} u_{{ instance.name() }} (
{%- for connection in instance.connections() %}
        {{ connection }}
{%- endfor %}
    );
{%- endfor %}
{%- if module.has_outputs() %}

    // Outputs
{%- for output in module.outputs() %}
    assign {{ output.target() }} = {{ output.expression() }};{{ output.remark() }}
{%- endfor %}
{%- endif %}
{%- if module.has_unread_bits() %}

    // Signals with bits that nothing reads
{%- for unread in module.unread_groups() %}
{%- if let Some(heading) = unread.heading() %}
    // {{ heading }}
{%- endif %}
    wire {{ unread.group.name }} = {{ unread.reduction() }};
{%- endfor %}
{%- endif %}

endmodule
{%- endfor %}

`default_nettype wire

