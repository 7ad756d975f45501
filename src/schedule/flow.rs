//! A flow network whose arcs are inequalities between integer labels, and maximum flow on those that hold tightly.
//!
//! Node `j` has a label `x[j]`; an arc `i -> j` of gain `g` says `x[j] - x[i] >= g`. Minimising `sum c[j] x[j]` under
//! such inequalities is a linear program with a totally unimodular matrix; its dual asks for a flow, not negative, of
//! which `c[j]` arrives at each node, of largest total gain. A flow on tight arcs alone that serves every node proves
//! the labels best (complementary slackness). Arcs have no capacity, so in the residual graph every tight arc can be
//! used forwards, and backwards as far as it carries flow.
//!
//! The maximum flow is found by Dinic's algorithm (E. A. Dinic 1970): shortest augmenting paths, round by round.
//! Small amounts make many rounds; capacity scaling (J. Edmonds, R. M. Karp 1972) leaves them for later.

/// No arc, no level.
const NIL: u32 = u32::MAX;

/// A node from which no path goes on.
const DEAD: u32 = u32::MAX - 1;

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
    /// Tight arcs out of each node and into it, of those that were there when they were last sorted.
    out: Sorted,
    into: Sorted,
    /// Number of arcs then.
    sorted: usize,
    /// Tight arcs that came later, as lists.
    later_out: Lists,
    later_into: Lists,
    level: Vec<u32>,
    queue: Vec<u32>,
    current: Vec<Cursor>,
    path: Vec<Step>,
    /// Less flow than this on an arc cannot be sent back: coarse flows are found sooner. At 1 all is exact.
    pub(super) grain: i64,
    /// Arcs looked at so far: the measure of effort.
    pub(super) work: u64,
}

/// Arcs by node: the other end and the arc, in one run for each node.
#[derive(Clone, Debug, Default)]
struct Sorted {
    start: Vec<u32>,
    ends: Vec<(u32, u32)>,
}

impl Sorted {
    /// Sorts the arcs that `is_wanted` by `key`; `other` is their other end. Counting sort, stable.
    fn sort(&mut self, nodes: usize, key: &[u32], other: &[u32], is_wanted: impl Fn(usize) -> bool) {
        self.start.clear();
        self.start.resize(nodes + 2, 0);
        let wanted = || (0..key.len()).filter(|&arc| is_wanted(arc));
        for arc in wanted() {
            self.start[key[arc] as usize + 2] += 1;
        }
        for i in 2..nodes + 2 {
            self.start[i] += self.start[i - 1];
        }
        self.ends.clear();
        self.ends.resize(self.start[nodes + 1] as usize, (NIL, NIL));
        for arc in wanted() {
            let at = &mut self.start[key[arc] as usize + 1];
            self.ends[*at as usize] = (other[arc], arc as u32);
            *at += 1;
        }
    }

    fn range(&self, node: u32) -> (u32, u32) {
        (self.start[node as usize], self.start[node as usize + 1])
    }
}

/// Arcs by node as linked lists; an arc's place in `next` is counted from the first that came later.
#[derive(Clone, Debug, Default)]
struct Lists {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Lists {
    fn push(&mut self, node: u32, arc: u32) {
        self.next.push(std::mem::replace(&mut self.first[node as usize], arc));
    }

    fn clear(&mut self) {
        self.first.fill(NIL);
        self.next.clear();
    }
}

/// Where the search goes on at a node.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    out: u32,
    into: u32,
    later_out: u32,
    later_into: u32,
}

/// One arc of an augmenting path.
#[derive(Clone, Copy, Debug)]
struct Step {
    arc: u32,
    forwards: bool,
}

/// How a call of [`Network::saturate`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saturated {
    /// Nothing is left to send.
    Served,
    /// What is left cannot be sent.
    Stuck,
    /// The effort is used up.
    Tired,
}

impl Network {
    /// A network of nodes with these labels and without arcs, where nothing has to arrive.
    pub(super) fn new(label: Vec<i32>) -> Network {
        let n = label.len();
        let lists = || Lists { first: vec![NIL; n], next: Vec::new() };
        let mut network = Network {
            label,
            want: vec![0; n],
            later_out: lists(),
            later_into: lists(),
            level: vec![NIL; n],
            current: vec![Cursor { out: 0, into: 0, later_out: NIL, later_into: NIL }; n],
            grain: 1,
            ..Network::default()
        };
        network.sort();
        network
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
        self.later_out.push(from, arc);
        self.later_into.push(to, arc);
    }

    /// Sorts out which arcs are tight. To be called when labels have changed.
    pub(super) fn sort(&mut self) {
        let nodes = self.label.len();
        let (label, tail, head, gain) = (&self.label, &self.tail, &self.head, &self.gain);
        let is_tight = |arc: usize| label[head[arc] as usize] - label[tail[arc] as usize] == gain[arc];
        self.out.sort(nodes, tail, head, is_tight);
        self.into.sort(nodes, head, tail, is_tight);
        self.later_out.clear();
        self.later_into.clear();
        self.sorted = self.tail.len();
        self.work += 2 * self.sorted as u64;
    }

    fn is_tight(&self, arc: u32) -> bool {
        let a = arc as usize;
        self.label[self.head[a] as usize] - self.label[self.tail[a] as usize] == self.gain[a]
    }

    /// Sends as much as tight arcs can carry until `work` goes beyond `limit`. If it got stuck,
    /// [`Network::is_reached`] then tells who can be reached from nodes that have something left.
    pub(super) fn saturate(&mut self, limit: u64) -> Saturated {
        if self.tail.len() - self.sorted > self.sorted / 8 {
            self.sort();
        }
        loop {
            let is_way_left = self.levels();
            if self.queue.is_empty() {
                return Saturated::Served;
            }
            if !is_way_left {
                return Saturated::Stuck;
            }
            self.blocking_flow();
            if self.work > limit {
                return Saturated::Tired;
            }
        }
    }

    /// Takes back the flow that comes into reached nodes from others, all of it less than the grain: those arcs are
    /// not tight once the reached nodes have moved.
    pub(super) fn drop_entering_flow(&mut self) {
        self.work += self.tail.len() as u64;
        for arc in 0..self.tail.len() {
            let (tail, head) = (self.tail[arc], self.head[arc]);
            if self.flow[arc] > 0 && self.is_reached(tail) != self.is_reached(head) {
                let flow = std::mem::take(&mut self.flow[arc]);
                self.want[tail as usize] -= flow;
                self.want[head as usize] += flow;
            }
        }
    }

    /// Whether the last search for paths, which found none, came by this node.
    pub(super) fn is_reached(&self, node: u32) -> bool {
        self.level[node as usize] != NIL
    }

    /// Distances in residual arcs from the nodes that have something left; whether one is reached that wants something.
    /// The search goes on behind those: a round may as well serve nodes at different distances.
    fn levels(&mut self) -> bool {
        self.level.fill(NIL);
        self.queue.clear();
        for v in 0..self.want.len() as u32 {
            if self.want[v as usize] < 0 {
                self.visit(v, 0);
            }
        }
        let mut is_way_left = false;
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            is_way_left |= self.want[v as usize] > 0;
            let level = self.level[v as usize] + 1;
            let (start, end) = self.out.range(v);
            self.work += u64::from(end - start);
            for i in start..end {
                let (w, _) = self.out.ends[i as usize];
                if self.level[w as usize] == NIL {
                    self.visit(w, level);
                }
            }
            let (start, end) = self.into.range(v);
            self.work += u64::from(end - start);
            for i in start..end {
                let (w, arc) = self.into.ends[i as usize];
                if self.level[w as usize] == NIL && self.flow[arc as usize] >= self.grain {
                    self.visit(w, level);
                }
            }
            let mut arc = self.later_out.first[v as usize];
            while arc != NIL {
                self.work += 1;
                let w = self.head[arc as usize];
                if self.level[w as usize] == NIL && self.is_tight(arc) {
                    self.visit(w, level);
                }
                arc = self.later_out.next[arc as usize - self.sorted];
            }
            let mut arc = self.later_into.first[v as usize];
            while arc != NIL {
                self.work += 1;
                let w = self.tail[arc as usize];
                if self.level[w as usize] == NIL && self.flow[arc as usize] >= self.grain {
                    self.visit(w, level);
                }
                arc = self.later_into.next[arc as usize - self.sorted];
            }
        }
        is_way_left
    }

    fn visit(&mut self, node: u32, level: u32) {
        let n = node as usize;
        self.level[n] = level;
        self.queue.push(node);
        self.current[n] = Cursor {
            out: self.out.start[n],
            into: self.into.start[n],
            later_out: self.later_out.first[n],
            later_into: self.later_into.first[n],
        };
    }

    /// Sends along shortest paths until each of them is blocked.
    fn blocking_flow(&mut self) {
        // The queue begins with the sources.
        let sources = self.queue.iter().take_while(|&&v| self.level[v as usize] == 0).count();
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
                    self.level[at as usize] = DEAD;
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
        let found = self.next_residual(at, level, &mut cursor);
        self.current[at as usize] = cursor;
        found
    }

    fn next_residual(&mut self, at: u32, level: u32, cursor: &mut Cursor) -> Option<(Step, u32)> {
        let (_, end) = self.out.range(at);
        while cursor.out < end {
            self.work += 1;
            let (w, arc) = self.out.ends[cursor.out as usize];
            if self.level[w as usize] == level {
                return Some((Step { arc, forwards: true }, w));
            }
            cursor.out += 1;
        }
        let (_, end) = self.into.range(at);
        while cursor.into < end {
            self.work += 1;
            let (w, arc) = self.into.ends[cursor.into as usize];
            if self.level[w as usize] == level && self.flow[arc as usize] >= self.grain {
                return Some((Step { arc, forwards: false }, w));
            }
            cursor.into += 1;
        }
        while cursor.later_out != NIL {
            self.work += 1;
            let arc = cursor.later_out;
            let w = self.head[arc as usize];
            if self.level[w as usize] == level && self.is_tight(arc) {
                return Some((Step { arc, forwards: true }, w));
            }
            cursor.later_out = self.later_out.next[arc as usize - self.sorted];
        }
        while cursor.later_into != NIL {
            self.work += 1;
            let arc = cursor.later_into;
            let w = self.tail[arc as usize];
            if self.level[w as usize] == level && self.flow[arc as usize] >= self.grain {
                return Some((Step { arc, forwards: false }, w));
            }
            cursor.later_into = self.later_into.next[arc as usize - self.sorted];
        }
        None
    }

    /// Sends what the path allows and returns the node from which to go on: the start of the first arc that is used
    /// up, else the end of the path.
    fn augment(&mut self, source: u32, sink: u32) -> u32 {
        let mut amount = (-self.want[source as usize]).min(self.want[sink as usize]);
        for step in self.path.iter().filter(|s| !s.forwards) {
            amount = amount.min(self.flow[step.arc as usize]);
        }
        self.want[source as usize] += amount;
        self.want[sink as usize] -= amount;
        let mut used_up = None;
        for (i, step) in self.path.iter().enumerate() {
            let flow = &mut self.flow[step.arc as usize];
            *flow += if step.forwards { amount } else { -amount };
            if *flow == 0 && used_up.is_none() {
                used_up = Some(i);
            }
        }
        let Some(used_up) = used_up else { return sink };
        let step = self.path[used_up];
        self.path.truncate(used_up);
        if step.forwards { self.tail[step.arc as usize] } else { self.head[step.arc as usize] }
    }
}
