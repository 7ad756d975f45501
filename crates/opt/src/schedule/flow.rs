//! A flow network whose arcs are inequalities between integer labels, and maximum flow on those that hold tightly.
//!
//! Node `j` has a label `x[j]`; an arc `i -> j` of gain `g` says `x[j] - x[i] >= g`. Minimising `sum c[j] x[j]` under
//! such inequalities is a linear program with a totally unimodular matrix; its dual asks for a flow, not negative, of
//! which `c[j]` arrives at each node, of largest total gain. A flow on tight arcs alone that serves every node proves
//! the labels best (complementary slackness). Arcs have no capacity, so in the residual graph every tight arc can be
//! used forwards, and backwards as far as it carries flow.
//!
//! The maximum flow is found by preflow-push (A. V. Goldberg, R. E. Tarjan, *A new approach to the maximum flow
//! problem*, 1988): what is left at a node is pushed one residual arc nearer to what wants it, the farthest first, and
//! a node from which no arc leads nearer gets a new distance. Now and then all distances are computed again, and where
//! no node has some distance, what is farther is given up until then (B. V. Cherkassky, A. V. Goldberg, *On
//! implementing the push-relabel method for the maximum flow problem*, 1997). What cannot be served stays where it was
//! pushed.

/// No arc, no distance.
const NIL: u32 = u32::MAX;

/// Labels, arcs and flow.
#[derive(Clone, Debug, Default)]
pub struct FlowNetwork {
    /// Label of each node.
    pub label: Vec<i32>,
    /// Flow that should still arrive at each node; negative where flow should still leave.
    pub want: Vec<i64>,
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
    /// Distance of each node to what wants something, at least 1 for those that can reach it. After a search that got
    /// stuck: from what is left, for those that it reaches.
    distance: Vec<u32>,
    queue: Vec<u32>,
    /// Where the search for arcs goes on, valid if the stamp is that of the present distances.
    current: Vec<Cursor>,
    stamp: Vec<u32>,
    present: u32,
    /// Nodes with something left, by distance, and the number of all nodes of each distance.
    active: Vec<Vec<u32>>,
    count: Vec<u32>,
    /// No active node is farther than this.
    farthest: u32,
    /// If the last search got stuck and no label has changed since: the number of arcs then.
    stuck: Option<usize>,
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

    fn arcs(&self, node: u32) -> &[(u32, u32)] {
        &self.ends[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    fn end(&self, node: u32) -> u32 {
        self.start[node as usize + 1]
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

/// A residual arc.
#[derive(Clone, Copy, Debug)]
struct Step {
    arc: u32,
    forwards: bool,
}

/// Result of [`FlowNetwork::saturate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturated {
    /// Nothing is left to send.
    Served,
    /// The rest cannot be sent.
    Stuck,
    /// The effort is used up.
    Tired,
}

impl FlowNetwork {
    /// A network of nodes with these labels and without arcs, where nothing has to arrive.
    pub fn new(label: Vec<i32>) -> FlowNetwork {
        let n = label.len();
        let lists = || Lists { first: vec![NIL; n], next: Vec::new() };
        let mut network = FlowNetwork {
            label,
            want: vec![0; n],
            later_out: lists(),
            later_into: lists(),
            distance: vec![NIL; n],
            current: vec![Cursor { out: 0, into: 0, later_out: NIL, later_into: NIL }; n],
            stamp: vec![0; n],
            ..FlowNetwork::default()
        };
        network.sort();
        network
    }

    /// Number of arcs.
    pub(super) fn arcs(&self) -> usize {
        self.tail.len()
    }

    /// Flow of an arc.
    pub fn flow(&self, arc: usize) -> i64 {
        self.flow[arc]
    }

    /// Adds the inequality `label[to] - label[from] >= gain`, which the labels keep.
    pub fn add(&mut self, from: u32, to: u32, gain: i32) {
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
    pub fn sort(&mut self) {
        let nodes = self.label.len();
        let (label, tail, head, gain) = (&self.label, &self.tail, &self.head, &self.gain);
        let is_tight = |arc: usize| label[head[arc] as usize] - label[tail[arc] as usize] == gain[arc];
        self.out.sort(nodes, tail, head, is_tight);
        self.into.sort(nodes, head, tail, is_tight);
        self.later_out.clear();
        self.later_into.clear();
        self.sorted = self.tail.len();
        self.stuck = None;
        self.work += 2 * self.sorted as u64;
    }

    fn is_tight(&self, arc: u32) -> bool {
        let a = arc as usize;
        self.label[self.head[a] as usize] - self.label[self.tail[a] as usize] == self.gain[a]
    }

    /// Sends as much as tight arcs can carry until `work` goes beyond `limit`. If it got stuck,
    /// [`FlowNetwork::is_reached`] then returns which nodes are reachable from nodes with unsent flow.
    pub fn saturate(&mut self, limit: u64) -> Saturated {
        if self.work > limit {
            return Saturated::Tired;
        }
        if self.tail.len() - self.sorted > self.sorted / 8 {
            let stuck = self.stuck;
            self.sort();
            self.stuck = stuck;
        }
        if let Some(known) = self.stuck
            && self.reach_more(known)
        {
            self.stuck = Some(self.tail.len());
            return Saturated::Stuck;
        }
        self.stuck = None;
        loop {
            if self.is_served() {
                return Saturated::Served;
            }
            if !self.find_distances() {
                self.reach();
                self.stuck = Some(self.tail.len());
                return Saturated::Stuck;
            }
            self.push_nearer(limit);
            if self.work > limit {
                return Saturated::Tired;
            }
        }
    }

    /// Sends what is left along any arcs that `is_usable`, tight or not, until `work` goes beyond `limit`: no longer
    /// the best there is, but a flow, where what is left at a node counts for next to nothing. No search can follow.
    pub(super) fn serve_loosely(&mut self, is_usable: impl Fn(usize) -> bool, limit: u64) {
        self.sort();
        self.out.sort(self.label.len(), &self.tail, &self.head, &is_usable);
        self.into.sort(self.label.len(), &self.head, &self.tail, &is_usable);
        while !self.is_served() && self.find_distances() && self.work <= limit {
            self.push_nearer(limit);
        }
    }

    fn is_served(&mut self) -> bool {
        self.work += self.want.len() as u64;
        self.want.iter().all(|&want| want >= 0)
    }

    /// Takes back the flow that comes into reached nodes from others: those arcs are not tight once the reached nodes
    /// have moved.
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

    /// Returns `true` if the last search for paths, which found none, reached this node.
    pub fn is_reached(&self, node: u32) -> bool {
        self.distance[node as usize] != NIL
    }

    /// Distance of each node, in residual arcs, to the nearest that wants something; whether anybody with something
    /// left reaches one.
    fn find_distances(&mut self) -> bool {
        self.distance.fill(NIL);
        self.count.fill(0);
        self.active.iter_mut().for_each(Vec::clear);
        (self.farthest, self.present) = (0, self.present + 1);
        self.queue.clear();
        for v in 0..self.want.len() as u32 {
            if self.want[v as usize] > 0 {
                self.visit(v, 1);
            }
        }
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            let distance = self.distance[v as usize];
            self.note(v, distance);
            self.visit_all(v, distance + 1, false);
        }
        self.farthest > 0
    }

    /// Finds out who is reached in residual arcs from the nodes that have something left.
    pub(super) fn reach(&mut self) {
        self.distance.fill(NIL);
        self.queue.clear();
        for v in 0..self.want.len() as u32 {
            if self.want[v as usize] < 0 {
                self.visit(v, 0);
            }
        }
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            self.visit_all(v, 0, true);
        }
    }

    /// Follows the arcs from number `known` on from who is reached already; whether what is left is stuck as before.
    fn reach_more(&mut self, known: usize) -> bool {
        self.queue.clear();
        for arc in known..self.tail.len() {
            let (from, to) = (self.tail[arc], self.head[arc]);
            if self.is_reached(from) && !self.is_reached(to) && self.is_tight(arc as u32) {
                self.visit(to, 0);
            }
        }
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            if self.want[v as usize] > 0 {
                return false;
            }
            self.visit_all(v, 0, true);
        }
        true
    }

    /// Has these nodes reached too, and all that tight arcs lead to from there.
    pub(super) fn reach_along(&mut self, nodes: impl IntoIterator<Item = u32>) {
        self.stuck = None;
        self.queue.clear();
        for v in nodes {
            if !self.is_reached(v) {
                self.visit(v, 0);
            }
        }
        let mut next = 0;
        while next < self.queue.len() {
            let v = self.queue[next];
            next += 1;
            self.visit_ends(v, 0, true);
            self.visit_later(v, 0, true);
        }
    }

    fn visit(&mut self, node: u32, distance: u32) {
        self.distance[node as usize] = distance;
        self.queue.push(node);
    }

    /// Visits who is new at the other end of residual arcs: out of the node, or into it.
    fn visit_all(&mut self, v: u32, distance: u32, out: bool) {
        self.visit_ends(v, distance, out);
        self.visit_later(v, distance, out);
        // Arcs that point the other way can be used as far as they carry flow.
        let against = if out { &self.into } else { &self.out };
        let ends = against.arcs(v);
        self.work += ends.len() as u64;
        for &(w, arc) in ends {
            if self.distance[w as usize] == NIL && self.flow[arc as usize] > 0 {
                self.distance[w as usize] = distance;
                self.queue.push(w);
            }
        }
        let later = if out { &self.later_into } else { &self.later_out };
        let mut arc = later.first[v as usize];
        while arc != NIL {
            self.work += 1;
            let w = if out { self.tail[arc as usize] } else { self.head[arc as usize] };
            if self.distance[w as usize] == NIL && self.flow[arc as usize] > 0 {
                self.distance[w as usize] = distance;
                self.queue.push(w);
            }
            arc = later.next[arc as usize - self.sorted];
        }
    }

    /// Visits new ends of the tight arcs that have this direction and existed when arcs were sorted.
    fn visit_ends(&mut self, v: u32, distance: u32, out: bool) {
        let ends = if out { self.out.arcs(v) } else { self.into.arcs(v) };
        self.work += ends.len() as u64;
        for &(w, _) in ends {
            if self.distance[w as usize] == NIL {
                self.distance[w as usize] = distance;
                self.queue.push(w);
            }
        }
    }

    /// Visits new ends of the tight arcs that have this direction and were added later.
    fn visit_later(&mut self, v: u32, distance: u32, out: bool) {
        let later = if out { &self.later_out } else { &self.later_into };
        let mut arc = later.first[v as usize];
        while arc != NIL {
            self.work += 1;
            let w = if out { self.head[arc as usize] } else { self.tail[arc as usize] };
            if self.distance[w as usize] == NIL && self.is_tight(arc) {
                self.distance[w as usize] = distance;
                self.queue.push(w);
            }
            arc = later.next[arc as usize - self.sorted];
        }
    }

    /// Counts a node at its distance, and lists it if it has something left.
    fn note(&mut self, v: u32, distance: u32) {
        let at = distance as usize;
        if self.count.len() <= at {
            self.count.resize(2 * at + 64, 0);
            self.active.resize_with(2 * at + 64, Vec::new);
        }
        self.count[at] += 1;
        if self.want[v as usize] < 0 {
            self.active[at].push(v);
            self.farthest = self.farthest.max(distance);
        }
    }

    /// Pushes nearer what is left until all of it is served or stuck, or distances should be computed again.
    fn push_nearer(&mut self, limit: u64) {
        let enough = self.work + self.tail.len() as u64 + 6 * self.label.len() as u64;
        // Nodes at this distance or beyond have no path to a sink any more.
        let mut beyond = NIL;
        while self.farthest > 0 && self.work <= enough.min(limit) {
            match self.active[self.farthest as usize].pop() {
                None => self.farthest -= 1,
                Some(v) if self.farthest < beyond => self.discharge(v, &mut beyond),
                Some(_) => {}
            }
        }
    }

    /// Pushes all that is left at a node, and gives it new distances as need be.
    fn discharge(&mut self, v: u32, beyond: &mut u32) {
        if self.stamp[v as usize] != self.present {
            self.stamp[v as usize] = self.present;
            self.rewind(v);
        }
        while self.want[v as usize] < 0 {
            let distance = self.distance[v as usize];
            let mut cursor = self.current[v as usize];
            let found = self.next_residual(v, distance - 1, &mut cursor);
            self.current[v as usize] = cursor;
            if let Some((step, w)) = found {
                self.push(v, step, w);
                continue;
            }
            let farther = self.distance_by_arcs(v);
            self.count[distance as usize] -= 1;
            if self.count[distance as usize] == 0 {
                *beyond = (*beyond).min(distance + 1);
            }
            if farther >= *beyond {
                self.distance[v as usize] = NIL;
                return;
            }
            self.distance[v as usize] = farther;
            self.rewind(v);
            self.note(v, farther);
            // It was put on the list, and goes on from there.
            return;
        }
    }

    /// Sends what is left at `v` to `w`, as far as the arc allows.
    fn push(&mut self, v: u32, step: Step, w: u32) {
        let left = -self.want[v as usize];
        let flow = &mut self.flow[step.arc as usize];
        let amount = if step.forwards { left } else { left.min(*flow) };
        *flow += if step.forwards { amount } else { -amount };
        self.want[v as usize] += amount;
        let want = &mut self.want[w as usize];
        let was_active = *want < 0;
        *want -= amount;
        if !was_active && *want < 0 {
            self.active[self.distance[w as usize] as usize].push(w);
        }
    }

    fn rewind(&mut self, v: u32) {
        self.current[v as usize] = Cursor {
            out: self.out.start[v as usize],
            into: self.into.start[v as usize],
            later_out: self.later_out.first[v as usize],
            later_into: self.later_into.first[v as usize],
        };
    }

    /// One more than the distance of the nearest node that a residual arc leads to; [`NIL`] if there is none.
    fn distance_by_arcs(&mut self, v: u32) -> u32 {
        let (out, into) = (self.out.arcs(v), self.into.arcs(v));
        self.work += (out.len() + into.len()) as u64;
        let mut nearest = out.iter().map(|&(w, _)| self.distance[w as usize]).min().unwrap_or(NIL);
        for &(w, arc) in into {
            if self.distance[w as usize] < nearest && self.flow[arc as usize] > 0 {
                nearest = self.distance[w as usize];
            }
        }
        let mut arc = self.later_out.first[v as usize];
        while arc != NIL {
            self.work += 1;
            let w = self.head[arc as usize];
            if self.distance[w as usize] < nearest && self.is_tight(arc) {
                nearest = self.distance[w as usize];
            }
            arc = self.later_out.next[arc as usize - self.sorted];
        }
        let mut arc = self.later_into.first[v as usize];
        while arc != NIL {
            self.work += 1;
            let w = self.tail[arc as usize];
            if self.distance[w as usize] < nearest && self.flow[arc as usize] > 0 {
                nearest = self.distance[w as usize];
            }
            arc = self.later_into.next[arc as usize - self.sorted];
        }
        nearest.saturating_add(1)
    }

    /// The next residual arc out of a node to one at this distance.
    fn next_residual(&mut self, at: u32, distance: u32, cursor: &mut Cursor) -> Option<(Step, u32)> {
        let end = self.out.end(at);
        while cursor.out < end {
            self.work += 1;
            let (w, arc) = self.out.ends[cursor.out as usize];
            if self.distance[w as usize] == distance {
                return Some((Step { arc, forwards: true }, w));
            }
            cursor.out += 1;
        }
        let end = self.into.end(at);
        while cursor.into < end {
            self.work += 1;
            let (w, arc) = self.into.ends[cursor.into as usize];
            if self.distance[w as usize] == distance && self.flow[arc as usize] > 0 {
                return Some((Step { arc, forwards: false }, w));
            }
            cursor.into += 1;
        }
        while cursor.later_out != NIL {
            self.work += 1;
            let arc = cursor.later_out;
            let w = self.head[arc as usize];
            if self.distance[w as usize] == distance && self.is_tight(arc) {
                return Some((Step { arc, forwards: true }, w));
            }
            cursor.later_out = self.later_out.next[arc as usize - self.sorted];
        }
        while cursor.later_into != NIL {
            self.work += 1;
            let arc = cursor.later_into;
            let w = self.tail[arc as usize];
            if self.distance[w as usize] == distance && self.flow[arc as usize] > 0 {
                return Some((Step { arc, forwards: false }, w));
            }
            cursor.later_into = self.later_into.next[arc as usize - self.sorted];
        }
        None
    }
}
