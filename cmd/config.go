package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// settings is what the trusted caller decides about a run, never the model: a
// flag, else AGENTKIT_NAME, else the configuration file.
type settings struct {
	On        string   `mapstructure:"on"`
	Parallel  int      `mapstructure:"parallel"`
	Root      string   `mapstructure:"root"`
	Policy    []string `mapstructure:"policy"`
	Allow     []string `mapstructure:"allow"`
	Profile   string   `mapstructure:"profile"`
	Ask       string   `mapstructure:"ask"`
	Answers   string   `mapstructure:"answers"`
	Session   string   `mapstructure:"session"`
	State     string   `mapstructure:"state"`
	Output    string   `mapstructure:"output"`
	Dialect   string   `mapstructure:"dialect"`
	Sandbox   string   `mapstructure:"sandbox"`
	Fork      string   `mapstructure:"fork"`
	DryRun    bool     `mapstructure:"dry_run"`
	MaxLines  int      `mapstructure:"max_lines"`
	MaxBytes  int      `mapstructure:"max_bytes"`
	MaxTokens int      `mapstructure:"max_tokens"`
	RG        string   `mapstructure:"rg"`       // the ripgrep to use, by AGENTKIT_RG or the file
	Programs  string   `mapstructure:"programs"` // the release's packages, by AGENTKIT_PROGRAMS or the file
}

// variables are those of the process's environment.
type variables struct {
	getenv  func(string) string
	environ func() []string
}

// choice is a setting that is one of a few words.
type choice struct {
	name  string
	words []string
	value func(*settings) *string
}

func choices() []choice {
	return []choice{
		{"output", []string{"json", "text", "events"}, func(s *settings) *string { return &s.Output }},
		{"profile", []string{"readonly", "workspace", "open", "argv", "container"}, func(s *settings) *string { return &s.Profile }},
		{"sandbox", []string{"auto", "off", "require", "outer"}, func(s *settings) *string { return &s.Sandbox }},
		{"fork", []string{"auto", "off"}, func(s *settings) *string { return &s.Fork }},
		{"dialect", dialect.Names(), func(s *settings) *string { return &s.Dialect }},
	}
}

func enums() map[string][]string {
	m := map[string][]string{}
	for _, c := range choices() {
		m[c.name] = c.words
	}
	return m
}

// configure fills the settings from the environment and the configuration
// file, and says where each that is set comes from. Flags come later and win.
func (s *settings) configure(v variables) (origins, error) {
	file, err := configFile(v.configDir())
	if err != nil {
		return nil, err
	}
	env, err := v.own()
	if err != nil || file == "" && len(env) == 0 {
		return nil, err
	}
	known := viper.New()
	for _, key := range settingNames() {
		known.SetDefault(key, nil)
	}
	if file != "" {
		known.SetConfigFile(file)
		if err := known.ReadInConfig(); err != nil {
			return nil, tool.Errorf(tool.BadInput, "reading configuration %s: %w", file, err).WithHint("correct the file, or remove it")
		}
		if err := knownKeys(known, file); err != nil {
			return nil, err
		}
	}
	for key, value := range env {
		known.Set(key, value)
	}
	if err := known.Unmarshal(s); err != nil {
		return nil, misset(known, file, env, err)
	}
	from := origins{}
	for _, key := range settingNames() {
		if known.Get(key) != nil {
			name, fix := source(key, file, env)
			if key == "root" && env[key] != nil && v.getenv("AGENTKIT_ROOT") == "" {
				name, fix = "PROJECT_ROOT", "correct the variable PROJECT_ROOT, or unset it"
			}
			from[key] = origin{name, fix, s.value(key)}
		}
	}
	return from, s.checkAs(func(key string) (name, fix string) { return source(key, file, env) })
}

// origins are where the settings come from that are no flags, by key.
type origins map[string]origin

// An origin is the place of a setting, the way to correct it there, and what it says.
type origin struct{ name, fix, value string }

// value is a setting as text, to be compared.
func (s *settings) value(key string) string {
	for f, v := range reflect.ValueOf(*s).Fields() {
		if f.Tag.Get("mapstructure") == key {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// source is where a setting comes from, with its name there, and the way to correct it.
func source(key, file string, env map[string]any) (name, fix string) {
	if _, own := env[key]; own {
		name = "AGENTKIT_" + strings.ToUpper(key)
		return name, fmt.Sprintf("correct the variable %s, or unset it", name)
	}
	return file + ": " + key, fmt.Sprintf("correct %s in %s", key, file)
}

// misset is the error for the first setting whose value is of the wrong kind.
func misset(v *viper.Viper, file string, env map[string]any, err error) error {
	for f := range reflect.TypeFor[settings]().Fields() {
		key := f.Tag.Get("mapstructure")
		if v.UnmarshalKey(key, reflect.New(f.Type).Interface()) == nil {
			continue
		}
		want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Bool: "true or false", reflect.Slice: "a list of texts"}[f.Type.Kind()]
		got, _ := json.Marshal(v.Get(key)) // what cannot be encoded shows as nothing
		name, fix := source(key, file, env)
		return tool.Errorf(tool.BadInput, "%s: want %s, got %s", name, cmp.Or(want, "a text"), got).WithHint("%s", fix)
	}
	return tool.Errorf(tool.BadInput, "reading the settings: %w", err).WithHint("correct the configuration file and the AGENTKIT_ variables")
}

// check reports a setting that cannot be. It runs when flags have been read;
// what came from elsewhere is checked by then.
func (s *settings) check() error {
	return s.checkAs(func(key string) (name, fix string) {
		flag := "--" + strings.ReplaceAll(key, "_", "-")
		return flag, "correct " + flag + ", or leave it out"
	})
}

// checkAs is check for settings that from tells the origin of, and how it is corrected.
func (s *settings) checkAs(from func(key string) (name, fix string)) error {
	wrong := func(key, want string, got any) *tool.Error {
		name, fix := from(key)
		return tool.Errorf(tool.BadInput, "%s: want %s, got %v", name, want, got).WithHint("%s", fix)
	}
	for _, c := range choices() {
		if got := *c.value(s); got != "" && !slices.Contains(c.words, got) {
			return wrong(c.name, "one of "+strings.Join(c.words, ", "), strconv.Quote(got)).Suggest(nearest.Words(got, c.words, 3)...)
		}
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"max_lines", s.MaxLines}, {"max_bytes", s.MaxBytes}, {"max_tokens", s.MaxTokens}, {"parallel", s.Parallel}} {
		if n.value < 0 {
			return wrong(n.key, "at least 1", n.value)
		}
	}
	if s.Ask != "" && s.Ask != "tty" && !strings.HasPrefix(s.Ask, "cmd:") {
		return wrong("ask", "tty or cmd:PROGRAM", strconv.Quote(s.Ask))
	}
	return nil
}

// configNames are the names that the configuration file may have.
func configNames() []string { return []string{"config.yaml", "config.toml", "config.json"} }

// configFile is the path of the configuration file in dir; "" when there is none.
func configFile(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	var found []string
	for _, name := range configNames() {
		name := filepath.Join(dir, name)
		if _, err := os.Stat(name); err == nil {
			found = append(found, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", tool.Errorf(tool.BadInput, "looking for the configuration: %w", err).WithHint("make %s readable", dir)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", tool.Errorf(tool.BadInput, "two configuration files: %s", strings.Join(found, " and ")).WithHint("keep one of them")
}

// configDir is where the user's configuration and policy live:
// $XDG_CONFIG_HOME/agentkit, else ~/.config/agentkit; %AppData%\agentkit on
// Windows. "" when the home directory is unknown.
func (v variables) configDir() string {
	if dir := v.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "agentkit")
	}
	if dir := v.getenv("AppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "agentkit")
	}
	if home := v.home(); home != "" {
		return filepath.Join(home, ".config", "agentkit")
	}
	return ""
}

func (v variables) home() string {
	if runtime.GOOS == "windows" {
		return v.getenv("USERPROFILE")
	}
	return v.getenv("HOME")
}

// own returns the settings that AGENTKIT_ variables give. A variable
// whose name is nearly a setting's is an error, since a misspelt AGENTKIT_POLICY
// must not mean no policy; other names are left to those who use them.
func (v variables) own() (map[string]any, error) {
	keys := settingNames()
	env := map[string]any{}
	for _, entry := range v.environ() {
		rest, own := strings.CutPrefix(entry, "AGENTKIT_")
		name, value, _ := strings.Cut(rest, "=")
		if !own || value == "" {
			continue
		}
		key := strings.ToLower(name)
		switch {
		case !slices.Contains(keys, key):
			if near := nearest.Word(key, keys); near != "" {
				return nil, tool.Errorf(tool.BadInput, "AGENTKIT_%s is not a setting", name).
					WithHint("did you mean AGENTKIT_%s?", strings.ToUpper(near)).Suggest("AGENTKIT_" + strings.ToUpper(near))
			}
		case key == "policy":
			env[key] = filepath.SplitList(value)
		case key == "allow":
			env[key] = strings.Split(value, "\n")
		default:
			env[key] = value
		}
	}
	if root := v.getenv("PROJECT_ROOT"); env["root"] == nil && root != "" {
		env["root"] = root
	}
	return env, nil
}

func settingNames() []string {
	var list []string
	for f := range reflect.TypeFor[settings]().Fields() {
		list = append(list, f.Tag.Get("mapstructure"))
	}
	return list
}

// knownKeys reports the first key of the file that is no setting.
func knownKeys(v *viper.Viper, file string) error {
	keys := settingNames()
	for _, key := range slices.Sorted(slices.Values(v.AllKeys())) {
		if slices.Contains(keys, key) {
			continue
		}
		e := tool.Errorf(tool.BadInput, "%s: unknown setting %q", file, key).WithHint("known: %s", strings.Join(keys, ", "))
		if near := nearest.Words(key, keys, 3); len(near) > 0 {
			_ = e.WithHint("did you mean %s?", near[0]).Suggest(near...)
		}
		return e
	}
	return nil
}
