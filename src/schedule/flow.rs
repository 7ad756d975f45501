//! A flow network whose arcs are inequalities between integer labels, and maximum flow on those that hold tightly.
//!
//! Node `j` has a label `x[j]`; an arc `i -> j` of gain `g` says `x[j] - x[i] >= g`. Minimising `sum c[j] x[j]` under
//! such inequalities is a linear program with a totally unimodular matrix; its dual asks for a flow, not negative, of
//! which `c[j]` arrives at each node, of largest total gain. A flow on tight arcs alone that serves every node proves
//! the labels best (complementary slackness). Arcs have no capacity, so in the residual graph every tight arc can be
//! used forwards, and backwards as far as it carries flow.
//!
//! The maximum flow is found by Dinic's algorithm (E. A. Dinic 1970): shortest augmenting paths, level by level.

/// No arc.
const NIL: u32 = u32::MAX;

/// Labels, arcs and flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    /// Label of each node.
    pub(super) label: Vec<i32>,
    /// What should still arrive at each node; negative where something should still leave.
    pub(super) want: Vec<i64>,
    tail: Vec<u32>,
    head: Vec<u32>,
    gain: Vec<i32>,
    flow: Vec<i64>,
    first_out: Vec<u32>,
    next_out: Vec<u32>,
    first_in: Vec<u32>,
    next_in: Vec<u32>,
    level: Vec<u32>,
    queue: Vec<u32>,
    current: Vec<Cursor>,
    path: Vec<Step>,
    /// Arcs looked at so far: the measure of effort.
    pub(super) work: u64,
}

/// Where the search goes on at a node.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    out: u32,
    into: u32,
}

/// One arc of an augmenting path.
#[derive(Clone, Copy, Debug)]
struct Step {
    arc: u32,
    forwards: bool,
}

impl Network {
    /// A network of nodes with these labels and without arcs, where nothing has to arrive.
    pub(super) fn new(label: Vec<i32>) -> Network {
        let n = label.len();
        Network {
            label,
            want: vec![0; n],
            first_out: vec![NIL; n],
            first_in: vec![NIL; n],
            level: vec![NIL; n],
            current: vec![Cursor { out: NIL, into: NIL }; n],
            ..Network::default()
        }
    }

    /// Number of arcs.
    pub(super) fn arcs(&self) -> usize {
        self.tail.len()
    }

    /// Flow of an arc.
    pub(super) fn flow(&self, arc: usize) -> i64 {
        self.flow[arc]
    }

    /// Adds the inequality `label[to] - label[from] >= gain`, which the labels keep.
    pub(super) fn add(&mut self, from: u32, to: u32, gain: i32) {
        debug_assert!(self.label[to as usize] - self.label[from as usize] >= gain);
        let arc = self.tail.len() as u32;
        self.tail.push(from);
        self.head.push(to);
        self.gain.push(gain);
        self.flow.push(0);
        self.next_out.push(std::mem::replace(&mut self.first_out[from as usize], arc));
        self.next_in.push(std::mem::replace(&mut self.first_in[to as usize], arc));
    }

    fn is_tight(&self, arc: u32) -> bool {
        let a = arc as usize;
        self.label[self.head[a] as usize] - self.label[self.tail[a] as usize] == self.gain[a]
    }

    /// Sends as much as tight arcs can carry, and then tells who can still be reached from nodes that have something
    /// left ([`Network::is_reached`]). Returns whether it got so far before `work` went beyond `limit`.
    pub(super) fn saturate(&mut self, limit: u64) -> bool {
        while self.levels() {
            self.blocking_flow();
            if self.work > limit {
                return false;
            }
        }
        true
    }

    /// What is left to send.
    pub(super) fn unsent(&self) -> i64 {
        self.want.iter().map(|&w| (-w).max(0)).sum()
    }

    /// Whether the last search for paths, which found none, came by this node.
    pub(super) fn is_reached(&self, node: u32) -> bool {
        self.level[node as usize] != NIL
    }

    /// Distances in residual arcs from the nodes that have something left; whether one that wants something is reached.
    fn levels(&mut self) -> bool {
        self.level.fill(NIL);
        self.queue.clear();
        for (v, &want) in self.want.iter().enumerate() {
            if want < 0 {
                self.level[v] = 0;
                self.queue.push(v as u32);
            }
        }
        let mut found = NIL;
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            let level = self.level[v as usize] + 1;
            if level > found {
                break;
            }
            let mut arc = self.first_out[v as usize];
            while arc != NIL {
                self.work += 1;
                let w = self.head[arc as usize];
                if self.level[w as usize] == NIL && self.is_tight(arc) {
                    self.visit(w, level, &mut found);
                }
                arc = self.next_out[arc as usize];
            }
            let mut arc = self.first_in[v as usize];
            while arc != NIL {
                self.work += 1;
                let w = self.tail[arc as usize];
                if self.level[w as usize] == NIL && self.flow[arc as usize] > 0 {
                    self.visit(w, level, &mut found);
                }
                arc = self.next_in[arc as usize];
            }
        }
        found != NIL
    }

    fn visit(&mut self, node: u32, level: u32, found: &mut u32) {
        self.level[node as usize] = level;
        self.queue.push(node);
        self.current[node as usize] = Cursor { out: self.first_out[node as usize], into: self.first_in[node as usize] };
        if self.want[node as usize] > 0 {
            *found = (*found).min(level);
        }
    }

    /// Sends along shortest paths until each of them is blocked.
    fn blocking_flow(&mut self) {
        // The queue begins with the sources, and visiting reset the cursors of all other nodes.
        let sources = self.queue.iter().take_while(|&&v| self.level[v as usize] == 0).count();
        for i in 0..sources {
            let source = self.queue[i];
            self.current[source as usize] =
                Cursor { out: self.first_out[source as usize], into: self.first_in[source as usize] };
        }
        for i in 0..sources {
            self.send_from(self.queue[i]);
        }
    }

    fn send_from(&mut self, source: u32) {
        self.path.clear();
        let mut at = source;
        while self.want[source as usize] < 0 {
            if self.want[at as usize] > 0 {
                at = self.augment(source, at);
                continue;
            }
            match self.advance(at) {
                Some((step, next)) => {
                    self.path.push(step);
                    at = next;
                }
                None => {
                    // A dead end: no path leads here any more.
                    self.level[at as usize] = NIL - 1;
                    let Some(step) = self.path.pop() else { return };
                    at = if step.forwards { self.tail[step.arc as usize] } else { self.head[step.arc as usize] };
                }
            }
        }
    }

    /// The next residual arc from a node to the level above it.
    fn advance(&mut self, at: u32) -> Option<(Step, u32)> {
        let level = self.level[at as usize] + 1;
        let mut cursor = self.current[at as usize];
        let mut found = None;
        while cursor.out != NIL {
            self.work += 1;
            let arc = cursor.out;
            let w = self.head[arc as usize];
            if self.level[w as usize] == level && self.is_tight(arc) {
                found = Some((Step { arc, forwards: true }, w));
                break;
            }
            cursor.out = self.next_out[arc as usize];
        }
        while found.is_none() && cursor.into != NIL {
            self.work += 1;
            let arc = cursor.into;
            let w = self.tail[arc as usize];
            if self.level[w as usize] == level && self.flow[arc as usize] > 0 {
                found = Some((Step { arc, forwards: false }, w));
                break;
            }
            cursor.into = self.next_in[arc as usize];
        }
        self.current[at as usize] = cursor;
        found
    }

    /// Sends what the path allows and returns the node from which to go on: the tail of the first arc that is used
    /// up, else the node before the end.
    fn augment(&mut self, source: u32, sink: u32) -> u32 {
        let mut amount = (-self.want[source as usize]).min(self.want[sink as usize]);
        for step in self.path.iter().filter(|s| !s.forwards) {
            amount = amount.min(self.flow[step.arc as usize]);
        }
        self.want[source as usize] += amount;
        self.want[sink as usize] -= amount;
        let mut keep = None;
        for (i, step) in self.path.iter().enumerate() {
            let flow = &mut self.flow[step.arc as usize];
            *flow += if step.forwards { amount } else { -amount };
            if *flow == 0 && keep.is_none() {
                keep = Some(i);
            }
        }
        let keep = match keep {
            Some(i) => i,
            // The sink may be satisfied or not; either way the search goes on there.
            None => return sink,
        };
        let step = self.path[keep];
        self.path.truncate(keep);
        if step.forwards { self.tail[step.arc as usize] } else { self.head[step.arc as usize] }
    }
}
