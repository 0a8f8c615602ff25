package monitoring

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The parts of Grafana's dashboard model (schema version 37) that the dashboard uses; decoding is
// strict, so a word that Grafana does not know is found. Source: Grafana documentation, "Dashboard
// JSON model".
type (
	dashboard struct {
		Title, UID, Description, Refresh, Timezone string
		Tags                                       []string
		SchemaVersion                              int
		Version                                    int
		Editable                                   bool
		Time                                       struct{ From, To string }
		Templating                                 struct{ List []variable }
		Annotations                                struct{ List []struct{} }
		Panels                                     []panel
	}
	source   struct{ Type, UID string }
	variable struct {
		Name, Label, Type, Definition string
		Query                         any
		Datasource                    *source
		Refresh, Sort                 int
		IncludeAll, Multi             bool
		AllValue                      string
		Current                       struct{ Text, Value []string }
	}
	panel struct {
		ID                       int
		Type, Title, Description string
		Collapsed                bool
		GridPos                  struct{ H, W, X, Y int }
		Panels                   []struct{}
		Datasource               *source
		FieldConfig              struct {
			Defaults struct {
				Unit       string
				Thresholds struct {
					Mode  string
					Steps []struct {
						Color string
						Value *float64
					}
				}
				Custom struct{ ThresholdsStyle struct{ Mode string } }
			}
			Overrides []struct{}
		}
		Options struct {
			Legend struct {
				DisplayMode, Placement string
				ShowLegend             bool
				Calcs                  []string
			}
			Tooltip       struct{ Mode, Sort string }
			ReduceOptions struct {
				Calcs  []string
				Fields string
				Values bool
			}
			ColorMode, GraphMode, TextMode string
		}
		Targets []struct {
			RefID, Expr, LegendFormat string
			Datasource                *source
		}
	}
)

func load(t *testing.T) dashboard {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(read(t, "grafana-dashboard.json"))))
	decoder.DisallowUnknownFields()
	var d dashboard
	if err := decoder.Decode(&d); err != nil {
		t.Fatal("grafana-dashboard.json:", err)
	}
	return d
}

func dashboardExprs(t *testing.T) (exprs []string) {
	t.Helper()
	for _, p := range load(t).Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	return exprs
}

func TestGrafanaCanShowTheDashboard(t *testing.T) {
	d := load(t)
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Templating.List) == 0 {
		t.Errorf("title %q, uid %q, schema version %d, %d variables", d.Title, d.UID, d.SchemaVersion,
			len(d.Templating.List))
	}
	const columns = 24 // of Grafana's grid
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] || p.Title == "" {
			t.Errorf("panel %q has no id or title of its own: %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > columns {
			t.Errorf("panel %q is off the grid: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("panels %q and %q lie on each other", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		switch p.Type {
		case "row":
		case "stat", "timeseries":
			refs := map[string]bool{}
			for _, target := range p.Targets {
				if target.RefID == "" || refs[target.RefID] || target.Expr == "" ||
					target.Datasource == nil || target.Datasource.Type != "prometheus" {
					t.Errorf("panel %q: target %+v", p.Title, target)
				}
				refs[target.RefID] = true
			}
			if len(refs) == 0 || p.FieldConfig.Defaults.Unit == "" {
				t.Errorf("panel %q shows nothing, or in no unit", p.Title)
			}
		default:
			t.Errorf("panel %q is of the unknown type %q", p.Title, p.Type)
		}
	}
}
