{% for line in v.about %}// {{ line }}
{% endfor %}
`default_nettype none

module {{ v.top }} (
    (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 {{ v.names.clock }} CLK" *)
    (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {{ v.names.input }}:{{ v.names.output }}, ASSOCIATED_RESET {{ v.names.reset }}" *)
    input  wire {{ v.names.clock }},
    (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 {{ v.names.reset }} RST" *)
    (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
    input  wire {{ v.names.reset }},
    input  wire {{ v.in_data }}{{ v.names.input }}_tdata,
    input  wire {{ v.names.input }}_tvalid,
    output wire {{ v.names.input }}_tready,
    input  wire {{ v.names.input }}_tlast,
{%- if let Some(user) = v.user %}
    input  wire {{ user }}{{ v.names.input }}_tuser,
{%- endif %}
    output wire {{ v.out_data }}{{ v.names.output }}_tdata,
    output wire {{ v.names.output }}_tvalid,
    input  wire {{ v.names.output }}_tready,
    output wire {{ v.names.output }}_tlast
{%- if let Some(user) = v.user %},
    output wire {{ user }}{{ v.names.output }}_tuser
{%- endif %}
);
{%- if v.stall %}

    // The pipeline advances unless a result waits{% if v.passing.is_some() %}, or a transfer is missing{% endif %}
    wire advance;
    wire result_free;
{%- else if v.passing.is_some() %}

    // The core advances unless a transfer is missing
    wire advance;
{%- endif %}
{%- if v.gated %}

    // The core accepts a sample in the clocks in which this is 1
    wire core_ready;
{%- if v.stall && v.passing.is_none() %}
    wire sample_leaves = core_ready & advance;
{%- endif %}
{%- endif %}
{%- if let Some(beats) = v.passing %}

    // Transfers enter the core as they arrive: the first when the core accepts a sample, the others in the clocks after
    // it; those that are missing after an early tlast are zero
    {{ w.reg }} {{ beats.range }}sample_beats;
    {{ w.reg }} ended;
{%- if let Some(user) = v.user %}
    {{ w.reg }} {{ user }}sample_user;
{%- endif %}
    initial begin
        sample_beats = {{ beats.zero }};
        ended = 1'b0;
    end
    wire first = sample_beats == {{ beats.zero }};
    wire last = sample_beats == {{ beats.last }};
    wire waits = ~first & ~ended & ~{{ v.names.input }}_tvalid;
{%- if v.stall %}
    wire moves;
    assign advance = moves & ~waits;
    assign {{ v.names.input }}_tready = moves & (first ? core_ready : ~ended);
    wire goes = ({{ v.names.input }}_tvalid & {{ v.names.input }}_tready) | (ended & moves);
{%- else %}
    assign advance = ~waits;
    wire goes = ({{ v.names.input }}_tvalid & {{ v.names.input }}_tready) | ended;
{%- endif %}
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) begin
            sample_beats <= {{ beats.zero }};
            ended <= 1'b0;
        end else if (goes) begin
            sample_beats <= last ? {{ beats.zero }} : sample_beats + {{ beats.one }};
            ended <= ~last & (ended | {{ v.names.input }}_tlast);
        end
    end
{%- if v.user.is_some() %}
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (first) sample_user <= {{ v.names.input }}_tuser;
    end
{%- endif %}
    wire {{ v.in_data }}sample = ended ? {{ v.no_data }} : {{ v.names.input }}_tdata;
    wire sample_valid = goes & last;
    wire {{ v.flag_bits }}sample_flags = {% if v.user.is_some() %}{sample_user, ended | {{ v.names.input }}_tlast}{% else %}ended | {{ v.names.input }}_tlast{% endif %};
{%- if !v.stall %}
    wire take = sample_valid;
{%- endif %}
{%- else if let Some(beats) = v.in_beats %}

    // Transfers of a sample; those that are missing after an early tlast are zero
    {{ w.reg }} {{ v.sample }}{{ v.gathered }};
    {{ w.reg }} {{ beats.counter.range }}sample_beats;
    {{ w.reg }} {{ v.gathered }}_valid;
    {{ w.reg }} {{ v.flag_bits }}{{ v.gathered }}_flags;
{%- if v.keeps %}
    {{ w.reg }} {{ v.sample }}sample;
    {{ w.reg }} sample_valid;
    {{ w.reg }} {{ v.flag_bits }}sample_flags;
    wire gathered_leaves = {{ v.sample_leaves }} | ~sample_valid;
{%- endif %}
    initial begin
        {{ v.gathered }} = {{ v.no_sample }};
        sample_beats = {{ beats.counter.zero }};
        {{ v.gathered }}_valid = 1'b0;
{%- if v.keeps %}
        sample = {{ v.no_sample }};
        sample_valid = 1'b0;
{%- endif %}
    end
    wire accept = {{ v.names.input }}_tvalid & {{ v.names.input }}_tready;
    wire complete = {{ v.names.input }}_tlast | (sample_beats == {{ beats.counter.last }});
    wire take = accept & complete;
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (accept) begin
            {{ v.gathered }}_flags[0] <= {{ v.names.input }}_tlast;
            case (sample_beats)
{%- for beat in beats.all %}
{%- if loop.first %}
                {{ beat.label }}: begin
                    {{ beat.slice }} <= {{ v.names.input }}_tdata;
                    {{ beats.rest.target }} <= {{ beats.rest.value }};
{%- if v.user.is_some() %}
                    {{ v.user_flags }} <= {{ v.names.input }}_tuser;
{%- endif %}
                end
{%- else %}
                {{ beat.label }}: {{ beat.slice }} <= {{ v.names.input }}_tdata;
{%- endif %}
{%- endfor %}
                default: ;
            endcase
        end
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) begin
            sample_beats <= {{ beats.counter.zero }};
            {{ v.gathered }}_valid <= 1'b0;
        end else begin
            if (accept) sample_beats <= complete ? {{ beats.counter.zero }} : sample_beats + {{ beats.counter.one }};
{%- if let Some(leaves) = v.leaves %}
            if (take) {{ v.gathered }}_valid <= 1'b1;
            else if ({{ leaves }}) {{ v.gathered }}_valid <= 1'b0;
{%- else %}
            sample_valid <= take;
{%- endif %}
        end
    end
{%- if v.keeps %}

    // A whole sample waits for the core while the next one is gathered
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (gathered_leaves) begin
            sample <= gathered;
            sample_flags <= gathered_flags;
        end
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) sample_valid <= 1'b0;
        else if (gathered_leaves) sample_valid <= gathered_valid;
    end
{%- endif %}
{%- if v.stall %}
    assign {{ v.names.input }}_tready = {{ v.leaves.unwrap_or_default() }} | ~{{ v.gathered }}_valid;
{%- endif %}
{%- else %}

    // A sample is one transfer
    wire {{ v.sample }}sample = {{ v.names.input }}_tdata;
    wire {{ v.flag_bits }}sample_flags = {% if v.user.is_some() %}{{ "{" }}{{ v.names.input }}_tuser, {{ v.names.input }}_tlast}{% else %}{{ v.names.input }}_tlast{% endif %};
{%- if v.stall %}
    wire sample_valid = {{ v.names.input }}_tvalid;
    assign {{ v.names.input }}_tready = {{ v.sample_leaves }};
{%- else %}
    wire sample_valid = {{ v.names.input }}_tvalid & {{ v.names.input }}_tready;
    wire take = sample_valid;
{%- endif %}
{%- endif %}
{%- if let Some(range) = v.core_in %}
    wire {{ range }}core_in;
{%- for a in v.in_assignments %}
    assign {{ a.target }} = {{ a.value }};
{%- endfor %}
{%- endif %}
{%- if let Some(range) = v.core_out %}
    wire {{ range }}core_out;
{%- endif %}
{%- if v.entered == "entered" %}
    wire entered = sample_valid & core_ready;
{%- endif %}
{%- if !v.connections.is_empty() %}

    {{ v.core }} u_core (
{%- for connection in v.connections %}
        {{ connection }}
{%- endfor %}
    );
{%- endif %}
{%- if v.latency > 0 %}

    // Valid flag, tlast and tuser of each sample in the pipeline
    {{ w.reg }} {{ v.valid.range }}valid;
    {{ w.reg }} {{ v.flags.range }}flags;
    initial valid = {{ v.valid.zero }};
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) valid <= {{ v.valid.zero }};
        else {% if v.waits %}if (advance) {% endif %}begin
{%- for a in v.valid.moves %}
            {{ a.target }} <= {{ a.value }};
{%- endfor %}
        end
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
{%- if v.waits %}
        if (advance) begin
{%- endif %}
{%- for a in v.flags.moves %}
{% if v.waits %}    {% endif %}        {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if v.waits %}
        end
{%- endif %}
    end
{%- endif %}
{%- if let Some(fifo) = v.fifo %}

    // Output FIFO. A sample is accepted only if a slot is free for its result.
    {{ w.reg }} {{ v.word }}fifo [0:{{ fifo.last_place }}];
    {{ w.reg }} {{ fifo.pointer.range }}put_at;
    {{ w.reg }} {{ fifo.pointer.range }}get_at;
    {{ w.reg }} {{ fifo.count.range }}held;
    {{ w.reg }} {{ fifo.count.range }}credits;
    initial begin
        put_at = {{ fifo.pointer.zero }};
        get_at = {{ fifo.pointer.zero }};
        held = {{ fifo.count.zero }};
        credits = {{ fifo.count.last }};
    end
    wire put = {{ v.done }}{% if v.passing.is_some() %} & advance{% endif %};
    wire get;
    assign {{ v.names.input }}_tready = {% if v.passing.is_some() %}first ? core_ready & (credits != {{ fifo.count.zero }}) : ~ended{% else if v.gated %}(credits != {{ fifo.count.zero }}) & {% if v.in_beats.is_some() %}({{ v.leaves.unwrap_or_default() }} | ~{{ v.gathered }}_valid){% else %}core_ready{% endif %}{% else %}credits != {{ fifo.count.zero }}{% endif %};
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (put) fifo[put_at] <= {{ v.outcome }};
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) begin
            put_at <= {{ fifo.pointer.zero }};
            get_at <= {{ fifo.pointer.zero }};
            held <= {{ fifo.count.zero }};
            credits <= {{ fifo.count.last }};
        end else begin
            if (put) put_at <= put_at == {{ fifo.pointer.last }} ? {{ fifo.pointer.zero }} : put_at + {{ fifo.pointer.one }};
            if (get) get_at <= get_at == {{ fifo.pointer.last }} ? {{ fifo.pointer.zero }} : get_at + {{ fifo.pointer.one }};
            if (put & ~get) held <= held + {{ fifo.count.one }};
            else if (get & ~put) held <= held - {{ fifo.count.one }};
            if (take & ~get) credits <= credits - {{ fifo.count.one }};
            else if (get & ~take) credits <= credits + {{ fifo.count.one }};
        end
    end
    wire {{ v.word }}result = fifo[get_at];
    wire result_valid = held != {{ fifo.count.zero }};
{%- else if v.holds_result %}

    // Result that is sent; the pipeline continues with the next one
    {{ w.reg }} {{ v.word }}result;
    {{ w.reg }} result_valid;
    initial result_valid = 1'b0;
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (result_free) result <= {{ v.outcome }};
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) result_valid <= 1'b0;
        else if (result_free) result_valid <= {{ v.done }}{% if v.passing.is_some() %} & advance{% endif %};
    end
{%- else %}

    // Result at the end of the pipeline
    wire {{ v.word }}result = {{ v.outcome }};
    wire result_valid = {{ v.done }};
{%- endif %}

    // Result as transfers
{%- if let Some(range) = v.core_out %}
    wire {{ range }}result_data = {{ v.data_part }};
{%- endif %}
    wire {{ v.payload }}payload;
{%- for a in v.out_assignments %}
    assign {{ a.target }} = {{ a.value }};
{%- endfor %}
{%- if let Some(beats) = v.out_beats %}
    {{ w.reg }} {{ beats.counter.range }}beat;
    initial beat = {{ beats.counter.zero }};
    {{ w.reg }} {{ v.out_data }}beat_data;
    wire last_beat = beat == {{ beats.counter.last }};
    always @* begin
        case (beat)
{%- for b in beats.all %}
            {{ b.label }}: beat_data = {{ b.slice }};
{%- endfor %}
            default: beat_data = {{ beats.zero }};
        endcase
    end
    {{ w.always_ff }} @(posedge {{ v.names.clock }}) begin
        if (!{{ v.names.reset }}) beat <= {{ beats.counter.zero }};
        else if (result_valid & {{ v.names.output }}_tready) beat <= last_beat ? {{ beats.counter.zero }} : beat + {{ beats.counter.one }};
    end
    assign {{ v.names.output }}_tdata = beat_data;
    assign {{ v.names.output }}_tlast = result[0] & last_beat;
{%- else %}
    assign {{ v.names.output }}_tdata = payload;
    assign {{ v.names.output }}_tlast = result[0];
{%- endif %}
{%- if v.user.is_some() %}
    assign {{ v.names.output }}_tuser = {{ v.user_part }};
{%- endif %}
    assign {{ v.names.output }}_tvalid = result_valid;
{%- if v.stall %}
    assign result_free = ~result_valid | ({{ v.names.output }}_tready{% if v.out_beats.is_some() %} & last_beat{% endif %});
{%- if v.passing.is_some() %}
    assign moves = ~{{ v.done }} | result_free;
{%- else %}
    assign advance = {% if v.holds_result %}~{{ v.done }} | {% endif %}result_free;
{%- endif %}
{%- else %}
    assign get = result_valid & {{ v.names.output }}_tready{% if v.out_beats.is_some() %} & last_beat{% endif %};
{%- endif %}
{%- if !v.unused.is_empty() %}

    // Signals with bits that nothing reads
    wire unused_bits = &{1'b0{% for bits in v.unused %}, {{ bits }}{% endfor %}};
{%- endif %}

endmodule

`default_nettype wire
