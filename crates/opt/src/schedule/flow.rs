//! Flow network whose arcs are inequalities between integer labels, with maximum flow on its tight arcs.
//!
//! Node `j` has a label `x[j]`; an arc `i -> j` with gain `g` is the inequality `x[j] - x[i] >= g`. Minimising `sum
//! c[j] x[j]` under such inequalities is a linear program with a totally unimodular matrix. The dual is a non-negative
//! flow of maximum total gain with the net inflow `c[j]` at each node. If a flow on tight arcs alone satisfies the
//! demand of every node, the labels are optimal (complementary slackness). Arcs have no capacity, so the residual graph
//! contains every tight arc forwards, and backwards up to its flow.
//!
//! The maximum flow is computed by push-relabel (A. V. Goldberg, R. E. Tarjan, *A new approach to the maximum flow
//! problem*, 1988): the most distant node with excess pushes its excess along a residual arc to a node that is nearer
//! to a demand; without such an arc, the node gets a new distance. All distances are recomputed periodically (global
//! relabelling). If no node has some distance, nodes at larger distances are skipped until the next recomputation (gap
//! heuristic; B. V. Cherkassky, A. V. Goldberg, *On implementing the push-relabel method for the maximum flow problem*,
//! 1997). Excess that cannot reach a demand remains at its node.

/// Marks a missing arc or distance.
const NIL: u32 = u32::MAX;

/// Labels, arcs and flow.
#[derive(Clone, Debug, Default)]
pub struct FlowNetwork {
    /// Label of each node.
    pub label: Vec<i32>,
    /// Demand of each node: inflow that is still required; negative for excess that must still be sent.
    pub want: Vec<i64>,
    tail: Vec<u32>,
    head: Vec<u32>,
    gain: Vec<i32>,
    flow: Vec<i64>,
    /// Tight arcs out of each node and into it, at the time of the last sort.
    out: Sorted,
    into: Sorted,
    /// Number of arcs at the last sort.
    sorted: usize,
    /// Tight arcs that were added since the last sort, as lists.
    later_out: Lists,
    later_into: Lists,
    /// Distance of each node to the nearest demand, at least 1; [`NIL`] if no demand is reachable. After a search that
    /// got stuck, all nodes that are reachable from excess have another value than [`NIL`].
    distance: Vec<u32>,
    queue: Vec<u32>,
    /// Position of the arc search at each node, valid if the node's stamp equals `present`.
    current: Vec<Cursor>,
    stamp: Vec<u32>,
    present: u32,
    /// Nodes with excess by distance, and the number of all nodes at each distance.
    active: Vec<Vec<u32>>,
    count: Vec<u32>,
    /// Upper bound of the distances of active nodes.
    farthest: u32,
    /// Number of arcs when the last search got stuck, if no label has changed since.
    stuck: Option<usize>,
    /// Number of arcs examined so far: the unit of the budget.
    pub(super) work: u64,
}

/// Arcs grouped by node: the other end and the arc index, in a contiguous range for each node.
#[derive(Clone, Debug, Default)]
struct Sorted {
    start: Vec<u32>,
    ends: Vec<(u32, u32)>,
}

impl Sorted {
    /// Sorts the arcs for which `is_wanted` is `true` by `key`, with a stable counting sort; `other` has their other
    /// ends.
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

/// Arcs grouped by node as linked lists; `next` is indexed from the first arc added since the last sort.
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

/// Position of the arc search at a node.
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
    /// All excess was sent.
    Served,
    /// The remaining excess cannot reach a demand.
    Stuck,
    /// The budget is exhausted.
    OutOfBudget,
}

impl FlowNetwork {
    /// Returns a network of nodes with these labels, without arcs or demands.
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

    /// Returns the number of arcs.
    pub(super) fn arcs(&self) -> usize {
        self.tail.len()
    }

    /// Returns the flow of an arc.
    pub fn flow(&self, arc: usize) -> i64 {
        self.flow[arc]
    }

    /// Adds the inequality `label[to] - label[from] >= gain`, which the current labels must satisfy.
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

    /// Collects the tight arcs. Must be called after a change of labels.
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

    /// Sends as much excess as possible along tight arcs, until `work` exceeds `limit`. After [`Saturated::Stuck`],
    /// [`FlowNetwork::is_reached`] returns `true` for the nodes that are reachable from the remaining excess.
    pub fn saturate(&mut self, limit: u64) -> Saturated {
        if self.work > limit {
            return Saturated::OutOfBudget;
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
                return Saturated::OutOfBudget;
            }
        }
    }

    /// Sends the remaining excess along all arcs for which `is_usable` is `true`, tight or not, until `work` exceeds
    /// `limit`. The result is a flow, but not an optimal one. No search may follow.
    pub(super) fn push_within_slack(&mut self, is_usable: impl Fn(usize) -> bool, limit: u64) {
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

    /// Removes the flow of arcs between reached and unreached nodes, because these arcs are not tight after the reached
    /// nodes move.
    pub(super) fn clear_inflow(&mut self) {
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

    /// Returns `true` if the last search reached the node. The result is valid only after a search that got stuck.
    pub fn is_reached(&self, node: u32) -> bool {
        self.distance[node as usize] != NIL
    }

    /// Computes the distance of each node, in residual arcs, to the nearest demand. Returns `true` if some excess can
    /// reach a demand.
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

    /// Marks the nodes that are reachable from excess along residual arcs.
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

    /// Extends the set of reached nodes by the arcs from index `known` on. Returns `true` if the excess still reaches
    /// no demand.
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

    /// Marks these nodes as reached, and all nodes that tight arcs connect to them.
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

    /// Visits the unvisited nodes at the other ends of residual arcs out of a node, or into it.
    fn visit_all(&mut self, v: u32, distance: u32, out: bool) {
        self.visit_ends(v, distance, out);
        self.visit_later(v, distance, out);
        // An arc in the opposite direction is residual if it carries flow.
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

    /// Visits unvisited ends of the tight arcs in this direction that existed at the last sort.
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

    /// Visits unvisited ends of the tight arcs in this direction that were added since the last sort.
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

    /// Counts a node at its distance, and makes it active if it has excess.
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

    /// Pushes excess towards demands until no node is active or the distances should be recomputed.
    fn push_nearer(&mut self, limit: u64) {
        let enough = self.work + self.tail.len() as u64 + 6 * self.label.len() as u64;
        // Nodes at distance `beyond` or more no longer have a path to a demand.
        let mut beyond = NIL;
        while self.farthest > 0 && self.work <= enough.min(limit) {
            match self.active[self.farthest as usize].pop() {
                None => self.farthest -= 1,
                Some(v) if self.farthest < beyond => self.discharge(v, &mut beyond),
                Some(_) => {}
            }
        }
    }

    /// Pushes all excess of a node, and relabels the node if necessary.
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
            // The node was put on the list of active nodes again.
            return;
        }
    }

    /// Sends the excess of `v` to `w`, up to the residual capacity of the arc.
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

    /// Returns one more than the smallest distance among the ends of residual arcs of a node; [`NIL`] if there are
    /// none.
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

    /// Returns the next residual arc out of a node to a node at this distance.
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
