// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

func (p *page) ring() markup {
	r := p.Ring
	if r == nil {
		return ""
	}
	content := el("p", attr("id", "member"), text(r.summary())) + r.unownedTable() + r.memberTable() + r.informerTable() + p.bucketTable()
	if r.Identity != "" {
		content += el("p", muted, text(r.moves()))
	}
	return el("section", attr("id", "ring"), el("h2", text("Ring "+r.Name+" "), badge(r.Condition)), content)
}

// summary describes the part of this process in the ring.
func (r *ringReport) summary() string {
	if r.State == "" {
		return "This process has not joined the ring."
	}
	working := 0
	for n := range r.Buckets {
		if s := r.Buckets[n].State; s == "held" || s == "draining" {
			working++
		}
	}
	text := fmt.Sprintf("This process is %s, %s. It works on %s of %s, %s. ", r.Identity, r.State, thousands(working), count(len(r.Buckets), "bucket"), r.By)
	switch r.Coordinator {
	case "":
		return text + "The coordinator is unknown."
	case r.Identity:
		return text + "It is the coordinator."
	}
	return text + "The coordinator is " + r.Coordinator + "."
}

func (r *ringReport) moves() string {
	return fmt.Sprintf("Buckets granted to this process: %s; released: %s; lost without a release: %s. Requests of no reconcile: %s.",
		thousands(int(r.Granted)), thousands(int(r.Released)), thousands(int(r.Evicted)), thousands(int(r.Unclaimed)))
}

func (r *ringReport) unownedTable() markup {
	var rows markup
	for _, u := range r.Unowned {
		rows += el("tr", rowHead(text(u.Buckets)), cell("Nobody works on them for", "time", text(inWords(u.For))), cell("Last owner", "name", text(u.LastOwner)))
	}
	if rows == "" {
		return ""
	}
	return table(el("tbody", rows), "Buckets without an owner", "Nobody works on them for", "Last owner")
}

func (r *ringReport) memberTable() markup {
	owned := map[string][]int{}
	for n, b := range r.Status.Buckets {
		owned[b.Owner] = append(owned[b.Owner], n)
	}
	var rows markup
	for n := range r.Members {
		m := &r.Members[n].MemberStatus
		self, spoken := "", ""
		if m.Identity == r.Identity {
			self = "this process"
		}
		if m.TakesPart() {
			spoken = inWords(m.Unchanged) + " ago"
		}
		rows += el("tr", rowHead(join(" ", text(m.Identity), mutedText(self))),
			cell("State", "state", el("span", class("badge "+colorOfMember(m, r.LeaseDuration)), text(m.State))),
			cell("Weight", "number", text(thousands(m.Weight))),
			cell("Owns", "number", text(thousands(m.Owned))),
			cell("Buckets", "keys", text(partition.Runs(owned[m.Identity]))),
			cell("Last renewal seen", "time", text(spoken)))
	}
	if rows == "" {
		return ""
	}
	return table(el("tbody", rows), "Member", "State", "Weight#", "Owns#", "Buckets", "Last renewal seen")
}

func colorOfMember(m *partition.MemberStatus, lease time.Duration) literal {
	switch {
	case m.TakesPart() && m.Unchanged > lease/2:
		return "warn"
	case m.State == "active":
		return "good"
	case m.TakesPart():
		return "info"
	case m.State == "left":
		return "off"
	}
	return "bad"
}

func (r *ringReport) informerTable() markup {
	var rows markup
	for _, i := range r.Informers {
		rows += el("tr", rowHead(text(i.Informer)), cell("reads its part by", "name", text(i.Mode)))
	}
	if rows == "" {
		return ""
	}
	return table(el("tbody", rows), "Informer", "reads its part by")
}

// bucketTable has all buckets. It is open while some have no owner.
func (p *page) bucketTable() markup {
	r := p.Ring
	var rows markup
	for n := range r.Buckets {
		b := &r.Buckets[n]
		state := ""
		if b.Revoking {
			state = "revoked"
		}
		owner := text(b.Owner)
		if b.UnownedFor > 0 {
			owner = el("span", class("badge bad"), text("none for "+inWords(b.UnownedFor)))
		}
		rows += el("tr", rowHead(text(fmt.Sprint(b.Bucket))),
			cell("Owner", "name", join(" ", owner, mutedText(state))),
			cell("Epoch", "number", text(thousands(int(b.Epoch)))),
			cell("Next", "name", text(b.Next)),
			cell("Spare", "name", text(b.Spare)),
			cell("Since", "time", p.ago(b.Since)),
			cell("Here", "name", text(b.State)),
			cell("Keys here", "number", number(b.Keys)))
	}
	if rows == "" {
		return ""
	}
	var open attribute
	if r.Unowned != nil {
		open = attr("open", "")
	}
	return el("details", open, el("summary", text(count(len(r.Buckets), "bucket")+", those without an owner and those that move first")),
		table(el("tbody", rows), "Bucket", "Owner", "Epoch#", "Next", "Spare", "Since", "Here", "Keys here#"))
}
