{% for line in about %}// {{ line }}
{% endfor %}
`default_nettype none

module {{ top }} (
    input  wire aclk,
    input  wire aresetn,
    input  wire {{ in_data }}s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
{%- if let Some(user) = user %}
    input  wire {{ user }}s_axis_tuser,
{%- endif %}
    output wire {{ out_data }}m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
{%- if let Some(user) = user %},
    output wire {{ user }}m_axis_tuser
{%- endif %}
);
{%- if stall %}

    // The pipeline moves on unless a result waits
    wire advance;
{%- endif %}
{%- if let Some(beats) = in_beats %}

    // The beats of a sample; those that a packet's early end leaves out are zero
    reg {{ sample }}sample;
    reg {{ beats.counter }}sample_beats;
    reg sample_valid;
    reg {{ flag_bits }}sample_flags;
    wire accept = s_axis_tvalid & s_axis_tready;
    wire complete = s_axis_tlast | (sample_beats == {{ beats.last }});
    wire take = accept & complete;
    always @(posedge aclk) begin
        if (accept) begin
            sample_flags[0] <= s_axis_tlast;
            case (sample_beats)
{%- for beat in beats.all %}
{%- if loop.first %}
                {{ beat.label }}: begin
                    sample <= {{ "{{" }}{{ beats.rest }}{1'b0}}, s_axis_tdata};
{%- if user.is_some() %}
                    sample_flags{{ self.user_part() }} <= s_axis_tuser;
{%- endif %}
                end
{%- else %}
                {{ beat.label }}: {{ beat.slice }} <= s_axis_tdata;
{%- endif %}
{%- endfor %}
                default: ;
            endcase
        end
    end
    always @(posedge aclk) begin
        if (!aresetn) begin
            sample_beats <= {{ beats.zero }};
            sample_valid <= 1'b0;
        end else begin
            if (accept) sample_beats <= complete ? {{ beats.zero }} : sample_beats + {{ beats.one }};
{%- if stall %}
            if (take) sample_valid <= 1'b1;
            else if (advance) sample_valid <= 1'b0;
{%- else %}
            sample_valid <= take;
{%- endif %}
        end
    end
{%- if stall %}
    assign s_axis_tready = advance | ~sample_valid;
{%- endif %}
{%- else %}

    // A sample is one beat
    wire {{ sample }}sample = s_axis_tdata;
    wire {{ flag_bits }}sample_flags = {{ self.flags_in() }};
{%- if stall %}
    wire sample_valid = s_axis_tvalid;
    assign s_axis_tready = advance;
{%- else %}
    wire sample_valid = s_axis_tvalid & s_axis_tready;
    wire take = sample_valid;
{%- endif %}
{%- endif %}
{%- if let Some(width) = core_in %}
    wire {{ width }}core_in;
{%- for a in in_assignments %}
    assign {{ a.target }} = {{ a.value }};
{%- endfor %}
{%- endif %}
{%- if let Some(width) = core_out %}
    wire {{ width }}core_out;
{%- endif %}
{%- if self.needs_core() %}

    {{ core }} u_core (
{%- for connection in connections %}
        {{ connection }}
{%- endfor %}
    );
{%- endif %}
{%- if latency > 0 %}

    // What travels beside the data
    reg {{ valid }}valid;
    reg {{ flags }}flags;
    always @(posedge aclk) begin
        if (!aresetn) valid <= {{ "{" }}{{ latency }}{1'b0}};
        else {% if stall %}if (advance) {% endif %}valid <= {{ valid_next }};
    end
    always @(posedge aclk) begin
        {% if stall %}if (advance) {% endif %}flags <= {{ flags_next }};
    end
{%- endif %}
{%- if let Some(fifo) = fifo %}

    // Results that wait. A sample enters only if there is a place for its result.
    reg {{ word }}fifo [0:{{ fifo.last_place }}];
    reg {{ fifo.pointer }}put_at;
    reg {{ fifo.pointer }}get_at;
    reg {{ fifo.count }}held;
    reg {{ fifo.count }}credits;
    wire put = {{ self.result_valid() }};
    wire get;
    assign s_axis_tready = credits != {{ fifo.count_zero }};
    always @(posedge aclk) begin
        if (put) fifo[put_at] <= {{ "{" }}{% if self.has_core_out() %}core_out, {% endif %}{{ result }}};
    end
    always @(posedge aclk) begin
        if (!aresetn) begin
            put_at <= {{ fifo.pointer_zero }};
            get_at <= {{ fifo.pointer_zero }};
            held <= {{ fifo.count_zero }};
            credits <= {{ fifo.full }};
        end else begin
            if (put) put_at <= put_at == {{ fifo.pointer_last }} ? {{ fifo.pointer_zero }} : put_at + {{ fifo.pointer_one }};
            if (get) get_at <= get_at == {{ fifo.pointer_last }} ? {{ fifo.pointer_zero }} : get_at + {{ fifo.pointer_one }};
            if (put & ~get) held <= held + {{ fifo.count_one }};
            else if (get & ~put) held <= held - {{ fifo.count_one }};
            if (take & ~get) credits <= credits - {{ fifo.count_one }};
            else if (get & ~take) credits <= credits + {{ fifo.count_one }};
        end
    end
    wire {{ word }}result = fifo[get_at];
    wire result_valid = held != {{ fifo.count_zero }};
{%- else %}

    // The result as it leaves the pipeline
    wire {{ word }}result = {{ "{" }}{% if self.has_core_out() %}core_out, {% endif %}{{ result }}};
    wire result_valid = {{ self.result_valid() }};
{%- endif %}

    // The result as beats
{%- if let Some(width) = core_out %}
    wire {{ width }}result_data = result{{ self.data_part() }};
{%- endif %}
    wire {{ payload }}payload;
{%- for a in out_assignments %}
    assign {{ a.target }} = {{ a.value }};
{%- endfor %}
{%- if let Some(beats) = out_beats %}
    reg {{ beats.counter }}beat;
    reg {{ out_data }}beat_data;
    wire last_beat = beat == {{ beats.last }};
    always @* begin
        case (beat)
{%- for b in beats.all %}
            {{ b.label }}: beat_data = {{ b.slice }};
{%- endfor %}
            default: beat_data = {{ self.zero_beat() }};
        endcase
    end
    always @(posedge aclk) begin
        if (!aresetn) beat <= {{ beats.zero }};
        else if (result_valid & m_axis_tready) beat <= last_beat ? {{ beats.zero }} : beat + {{ beats.one }};
    end
    assign m_axis_tdata = beat_data;
    assign m_axis_tlast = result[0] & last_beat;
{%- else %}
    assign m_axis_tdata = payload;
    assign m_axis_tlast = result[0];
{%- endif %}
{%- if user.is_some() %}
    assign m_axis_tuser = result{{ self.user_part() }};
{%- endif %}
    assign m_axis_tvalid = result_valid;
{%- if stall %}
    assign advance = ~result_valid | (m_axis_tready{% if self.has_beats() %} & last_beat{% endif %});
{%- else %}
    assign get = result_valid & m_axis_tready{% if self.has_beats() %} & last_beat{% endif %};
{%- endif %}
{%- if !unused.is_empty() %}

    // Bits that nothing reads
    wire unused_bits = &{1'b0{% for bits in unused %}, {{ bits }}{% endfor %}};
{%- endif %}

endmodule

`default_nettype wire
