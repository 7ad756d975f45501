// Constants and types of {{ v.top }} for SystemVerilog designs that use it. A variable of such a type connects to the port itself.
package {{ v.top }}_types;
{%- if !v.stateful %}

    // Clocks from a sample to its result, and from one sample to the next
    localparam int {{ v.macro_name() }}_LATENCY = {{ v.latency }};
    localparam int {{ v.macro_name() }}_INITIATION_INTERVAL = {{ v.interval }};
{%- endif %}
{%- for structure in v.structures %}

    // Elements of {{ structure.port }}
    typedef struct packed {
{%- for field in structure.fields %}
        {{ field.declaration }};{% if let Some(comment) = field.comment %}  // {{ comment }}{% endif %}
{%- endfor %}
    } {{ structure.port }}_t;
{%- endfor %}

endpackage
