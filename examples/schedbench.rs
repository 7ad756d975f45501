use alir2hdl::{formats, ir::Limits, schedule::*};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let effort = match args[1].as_str() { "fast" => Effort::Fast, "max" => Effort::Max, _ => Effort::Normal };
    let ns: Vec<u32> = args[2].split(',').map(|s| s.parse().unwrap()).collect();
    for name in &args[3..] {
        let limits = Limits { max_bytes: 1 << 34, ..Limits::default() };
        let t = Instant::now();
        let path = if name.contains('/') { name.clone() } else { format!("/work/shared/models/{name}/model.json.gz") };
        let model = formats::read_path(path.as_ref(), &limits, None).unwrap().0;
        let t_read = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let uses = alir2hdl::netlist::uses(&model);
        let t_uses = t.elapsed().as_secs_f64();
        println!("{name}: {} ops, read {t_read:.2}, uses {t_uses:.3} classes {}", model.nodes().len(), uses.classes().len());
        for &n in &ns {
            let goal = Goal { effort, ..Goal::stages(n) };
            let t = Instant::now();
            let delay = default_delay(&model);
            let o = schedule(&model, delay, &goal, &uses).unwrap();
            let secs = t.elapsed().as_secs_f64();
            let t = Instant::now();
            check(&model, delay, &Goal{max_stage_delay: Some(o.max_stage_delay), ..goal}, &o.schedule).unwrap();
            let t_check = t.elapsed().as_secs_f64();
            let t = Instant::now();
            let mut counts = (0, 0, 0);
            if let Some(c) = &o.certificate {
                let goal = Goal { max_stage_delay: Some(o.max_stage_delay), ..goal };
                check_certificate(&model, delay, &goal, &uses, c).unwrap();
                counts = (c.order.len(), c.path.len(), c.last_use.len());
            }
            let t_cert = t.elapsed().as_secs_f64();
            println!(" N={n} D={:.3} bits {} bound {} gap {:.4} time {secs:.3} check {t_check:.3} cert {t_cert:.3} {counts:?}",
                o.max_stage_delay, o.register_bits, o.lower_bound, o.gap());
        }
    }
}
