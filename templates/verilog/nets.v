{%- for net in nets() %}
{%- if let Some(layer) = net.layer() %}
    // Layer {{ layer }}
{%- endif %}
{%- if let Some(instance) = net.instance() %}
{%- if !net.is_port() %}
    {{ net.attributes() }}wire {{ net.net_type() }}{{ net.name() }};
{%- endif %}
    {{ instance }}{{ net.remark() }}
{%- else if net.is_port() %}
    assign {{ net.name() }} = {{ net.expression() }};{{ net.remark() }}
{%- else if net.has_attributes() %}
    {{ net.attributes() }}wire {{ net.net_type() }}{{ net.name() }};
    assign {{ net.name() }} = {{ net.expression() }};{{ net.remark() }}
{%- else %}
    wire {{ net.net_type() }}{{ net.name() }} = {{ net.expression() }};{{ net.remark() }}
{%- endif %}
{%- endfor %}
