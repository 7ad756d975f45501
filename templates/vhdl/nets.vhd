{%- for net in nets() %}
{%- if let Some(layer) = net.layer() %}
    -- Layer {{ layer }}
{%- endif %}
{%- if let Some(instance) = net.instance() %}
{%- if let Some(address) = net.address() %}
    {{ address.name }} <= {{ address.expression() }};
{%- endif %}
    {{ instance }}{{ net.remark() }}
{%- else %}
    {{ net.name() }} <= {{ net.expression() }};{{ net.remark() }}
{%- endif %}
{%- endfor %}
