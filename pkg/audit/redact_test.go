package audit

import (
	"strings"
	"testing"
	"time"
)

// fake builds what looks like a token without being one in this file.
func fake(prefix string, n int) string {
	return prefix + strings.Repeat("a1B2c3D4e5", n/10+1)[:n]
}

func TestRedactShapes(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123"
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
	for _, c := range []struct{ in, want string }{
		{"x " + fake("ghp_", 36) + " y", "x [redacted:github-token] y"},
		{fake("github_pat_", 60), "[redacted:github-token]"},
		{"key=" + fake("sk-ant-api03-", 40), "key=[redacted:api-key]"},
		{"'" + fake("xoxb-1-", 30) + "'", "'[redacted:slack-token]'"},
		{"AKIAABCDEFGHIJKLMNOP", "[redacted:aws-key-id]"},
		{fake("glpat-", 20), "[redacted:gitlab-token]"},
		{fake("AIza", 35), "[redacted:google-key]"},
		{"t=" + jwt + ";", "t=[redacted:jwt];"},
		{"a " + pem + " b", "a [redacted:private-key] b"},
		{"cut -----BEGIN PRIVATE KEY-----\nMIIE", "cut [redacted:private-key]"},
		{strings.ReplaceAll(pem, "\n", `\n`), "[redacted:private-key]"},
		{"git clone https://me:pa55@host/x.git", "git clone https://me:[redacted:url-password]@host/x.git"},
		{"https://:p@ss@host", "https://:[redacted:url-password]@host"},
		{"https://0123456789abcdef0123@host/", "https://[redacted:url-user]@host/"},
		{`curl -H 'Authorization: Bearer abc' u`, `curl -H 'Authorization: Bearer [redacted:Authorization]' u`},
		{`curl -H "authorization: abc" u`, `curl -H "authorization: [redacted:authorization]" u`},
		{"Authorization: Basic dXNlcjpwYXNz https://x", "Authorization: Basic [redacted:Authorization] https://x"},
		{"Authorization: Digest username=\"a\", response=\"b\"\nHost: x", "Authorization: Digest [redacted:Authorization]\nHost: x"},
		{`{"Authorization":"Bearer abc","n":1}`, `{"Authorization":"Bearer [redacted:Authorization]","n":1}`},
		{"Cookie: a=b; c=d\nHost: x", "Cookie: [redacted:Cookie]\nHost: x"},
		{"bearer " + fake("", 20), "bearer [redacted:bearer]"},
		{"mysql --password=x -h y", "mysql --password=[redacted:password] -h y"},
		{"mysql --password x -h y", "mysql --password [redacted:password] -h y"},
		{"mysql --password='a b' -h y", "mysql --password='[redacted:password]' -h y"},
		{"mysql --password=ab'cd'ef -h y", "mysql --password=[redacted:password] -h y"},
		{`bash -c "mysql --password=abc" && rm "x"`, `bash -c "mysql --password=[redacted:password]" && rm "x"`},
		{"curl -u me:secret https://x", "curl -u me:[redacted:password] https://x"},
		{"DB_PASSWORD=x make", "DB_PASSWORD=[redacted:DB_PASSWORD] make"},
		{"export GITHUB_TOKEN=abcdefgh", "export GITHUB_TOKEN=[redacted:GITHUB_TOKEN]"},
		{`{"apiKey": "abcdefgh", "x": 1}`, `{"apiKey": "[redacted:apiKey]", "x": 1}`},
		{`{\"password\": \"abc\", \"x\": 1}`, `{\"password\": \"[redacted:password]\", \"x\": 1}`},
		{`{"password":"a\"b"}`, `{"password":"[redacted:password]"}`},
		{"password: hunter2", "password: [redacted:password]"},
		{"https://x/?access_token=abcdefgh&n=1", "https://x/?access_token=[redacted:access_token]&n=1"},
		{"AWS_SECRET_ACCESS_KEY=abcdefgh", "AWS_SECRET_ACCESS_KEY=[redacted:AWS_SECRET_ACCESS_KEY]"},
		{"a --token=abcdefgh b --token abcdefgh", "a --token=[redacted:token] b --token [redacted:token]"},

		{"mysql -u root -phunter2 db", "mysql -u root -p[redacted:password] db"},
		{"mysql -p'a b' db", "mysql -p'[redacted:password]' db"},
		{"cd x && /usr/bin/mysqldump -pabc db | gzip", "cd x && /usr/bin/mysqldump -p[redacted:password] db | gzip"},
		{"sshpass -p hunter2 ssh -p 22 h", "sshpass -p [redacted:password] ssh -p [redacted:password] h"}, // too much is no harm
		{"sshpass -phunter2 ssh h", "sshpass -p[redacted:password] ssh h"},
		{"docker login -u me -p hunter2 reg", "docker login -u me -p [redacted:password] reg"},
		{"openssl enc -aes-256-cbc -k hunter2 -in a", "openssl enc -aes-256-cbc -k [redacted:password] -in a"},
		{"openssl rsa -passin pass:hunter2 -in a", "openssl rsa -passin [redacted:password] -in a"},
		{"redis-cli -h x -a hunter2 ping", "redis-cli -h x -a [redacted:password] ping"},
		{"psql postgres://me:hunter2@h/db", "psql postgres://me:[redacted:url-password]@h/db"},
		{"curl -u me:hunter2 h", "curl -u me:[redacted:password] h"},
		{"mongosh -u a -p hunter2", "mongosh -u a -p [redacted:password]"},
		{"ldapsearch -D cn=a -w hunter2 -b x", "ldapsearch -D cn=a -w [redacted:password] -b x"},
		{"unzip -P hunter2 a.zip", "unzip -P [redacted:password] a.zip"},
		{"7z x -phunter2 a.7z", "7z x -p[redacted:password] a.7z"},
		{`bash -c "mysql -phunter2 db"`, `bash -c "mysql -p[redacted:password] db"`},
		{"login --with Zk3v9QpX7rT2mLw8Yb5NcD1fGh6JsKa4 now", "login --with [redacted:random] now"},
		{"x=Zk3v9QpX7rT2mLw8Yb5NcD1fGh6JsKa4+w==", "[redacted:random]"},

		{"git clone https://s3cret77tok@h/x.git", "git clone https://[redacted:url-user]@h/x.git"},
		{"git clone HTTP://SECRETtok@h/x.git", "git clone HTTP://[redacted:url-user]@h/x.git"},
		{"git clone https://hunter2secret:@h/x.git", "git clone https://[redacted:url-user]:@h/x.git"},
		{"git clone https://hunter2secret:x-oauth-basic@h/x.git", "git clone https://[redacted:url-user]:x-oauth-basic@h/x.git"},
		{"curl --user=me:hunter2 h", "curl --user=me:[redacted:password] h"},
		{"curl --proxy-user=me:hunter2 h", "curl --proxy-user=me:[redacted:password] h"},
		{"curl -uhunter2secret: h", "curl -u[redacted:user]: h"},
		{"curl -u hunter2secret: h", "curl -u [redacted:user]: h"},
		{"curl -ume:hunter2 h", "curl -ume:[redacted:password] h"},
		{"curl -u'me:hunter 2' h", "curl -u'me:[redacted:password]' h"},
		{"curl -sS -U me:hunter2 h", "curl -sS -U me:[redacted:password] h"},
		{"curl --oauth2-bearer hunter2 h", "curl --oauth2-bearer [redacted:password] h"},
		{"curl -H'Cookie: session=hunter2' h", "curl -H'Cookie: [redacted:Cookie]' h"},
		{"curl '-HCookie: session=hunter2' h", "curl '-HCookie: [redacted:Cookie]' h"},
		{`curl -H"Authorization: Bearer abc" h`, `curl -H"Authorization: Bearer [redacted:Authorization]" h`},
		{"curl '-HAuthorization: Bearer abc' h", "curl '-HAuthorization: Bearer [redacted:Authorization]' h"},
		{"npm config set //registry.npmjs.org/:_authToken hunter2secret", "npm config set //registry.npmjs.org/:_authToken [redacted:_authToken]"},
		{"npm config set -g '//r/:_auth' 'hunter2secret'", "npm config set -g '//r/:_auth' '[redacted:_auth]'"},
		{"npm set //r/:_authToken hunter2secret", "npm set //r/:_authToken [redacted:_authToken]"},
		{"pnpm config --global set npmAuthToken hunter2secret", "pnpm config --global set npmAuthToken [redacted:npmAuthToken]"},
		{"aws configure set aws_secret_access_key hunter2", "aws configure set aws_secret_access_key [redacted:aws_secret_access_key]"},
		{"aws configure set default.aws_session_token hunter2secret --profile x", "aws configure set default.aws_session_token [redacted:default.aws_session_token] --profile x"},
		{"poetry config pypi-token.pypi hunter2secret", "poetry config pypi-token.pypi [redacted:pypi-token.pypi]"},
		{"git config --global github.token hunter2secret", "git config --global github.token [redacted:github.token]"},
		{`{"command":"npm config set //r/:_authToken \"hunter2secret\""}`, `{"command":"npm config set //r/:_authToken \"[redacted:_authToken]\""}`},

		{`{"command":"npm  config set \"//r/:_authToken\"  \"hunter2secret\""}`, `{"command":"npm  config set \"//r/:_authToken\"  \"[redacted:_authToken]\""}`},

		// And what is none.
		{"denied: the file may hold secrets (secrets: .env), and more", ""},
		{"git config credential.helper manager-core", ""},
		{"git config --get github.token", ""},
		{"git config user.name somebody-long", ""},
		{"aws configure set region eu-central-1", ""},
		{"npm config set registry https://registry.npmjs.org/", ""},
		{"config set", ""},
		{"the config secrets live in", ""},
		{"a set password of theirs", ""},
		{"git clone https://somebody@h/x", ""},
		{"git clone ssh://git@github.com/x", ""},
		{"sort -ux:y a", ""},
		{"mysql -p db", ""},
		{"mysql -p$PW db", ""},
		{"mkdir -p a/b && mysql db", ""},
		{"docker run -p 80:80 x", ""},
		{"ssh -p 22 h; openssl version -a", ""},
		{"cp -a x y", ""},
		{"git show 0123456789abcdef0123456789abcdef01234567", ""},
		{"docker pull a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", ""},
		{"TestTheQuickBrownFoxJumpsOver13LazyDogs2Times", ""},
		{"550e8400-e29b-41d4-a716-446655440000", ""},
		{"node_modules/@scope/package-name-that-is-long-1.2.3-beta.4/dist/index.js", ""},
		{"risk-assessment-of-the-year-2026", ""},
		{"sk-learn-something-long-name-here", ""},
		{"task-" + fake("", 30), ""},
		{"AKIAABCDEFGHIJKLMNOPQR", ""},
		{"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", ""},
		{"https://host/a@b:c@d", ""},
		{"https://me@host/x", ""},
		{"sort --key=2 --field-separator=:", ""},
		{"git log --author=me --format=%H", ""},
		{`curl -H "Authorization: Bearer $TOKEN"`, ""},
		{"mysql --password=$PW --password=${PW} --password=$(pw) x", ""},
		{"--max-tokens 50000 --max-tokens=128000000", ""},
		{"KEYBOARD=dvorak-layout PWD=/home/me/project XAUTHORITY=/home/me/x", ""},
		{"SSH_AUTH_SOCK=/run/user/1000/agent", ""},
		{"TOKENIZERS_PARALLELISM=disabled", ""},
		{"token := parser.next() // token == other", ""},
		{"std::password::check(a)", ""},
		{"chmod -u x:y", "chmod -u x:[redacted:password]"}, // read as curl's: better too much
		{"docker run -p 80:80 -v /a:/b image:tag", ""},
		{"", ""},
		{"=", ""},
		{":", ""},
		{"://", ""},
		{"--", ""},
		{"password=", ""},
		{"password:", ""},
		{`password="`, ""},
		{"-u ", ""},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		var r *Redactor
		got := r.Redact(c.in)
		if got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", c.in, got, want)
		}
		if again := r.Redact(got); again != got {
			t.Errorf("twice: %q, then %q", got, again)
		}
	}
}

func TestRedactValues(t *testing.T) {
	r := NewRedactor([]string{
		"GITHUB_TOKEN=abc/def+ghi", "SHORT_TOKEN=abc", "HOME=/home/person", "PATH=/usr/bin:/bin",
		"DB_KEY=longer-abc/def+ghi-longer", "MAX_TOKENS=1000000000", "X_TOKEN=disabled",
		"DATABASE_URL=postgres://me:s3cretpass@host/db", "BROKEN", "QUOTED_SECRET=a\"b\\c\nd12345",
	}).With("ask", "answer-of-person")
	for _, c := range []struct{ in, want string }{
		{"x abc/def+ghi y", "x [redacted:GITHUB_TOKEN] y"},
		{"x longer-abc/def+ghi-longer y", "x [redacted:DB_KEY] y"},
		{"?q=abc%2Fdef%2Bghi", "?q=[redacted:GITHUB_TOKEN]"},
		{`{"a":"a\"b\\c\nd12345"}`, `{"a":"[redacted:QUOTED_SECRET]"}`},
		{"YWJjL2RlZitnaGk=", "[redacted:GITHUB_TOKEN]"},
		{"it is s3cretpass", "it is [redacted:DATABASE_URL]"},
		{"answer-of-person", "[redacted:ask]"},
		{"abc /home/person 1000000000 disabled", "abc /home/person 1000000000 disabled"},
		{"curl --password=abc/def+ghi", "curl --password=[redacted:GITHUB_TOKEN]"},
	} {
		if got := r.Redact(c.in); got != c.want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "AWS_SECRET_ACCESS_KEY": true, "OPENAI_API_KEY": true, "apiKey": true, "DB_PASS": true, "npm_config__authToken": true,
		"PGPASSWORD": true, "GOOGLE_APPLICATION_CREDENTIALS": true, "SSH_KEY": true, "MYSQL_PWD": true, "HTTP_COOKIE": true,
		"PWD": false, "OLDPWD": false, "KEYBOARD": false, "SSH_AUTH_SOCK": false, "TOKEN_FILE": false, "MONKEY": false, "PATH": false,
		"XDG_SESSION_ID": false, "COMPASS": false, "AUTHOR": false, "TOKENIZERS_PARALLELISM": false, "": false, "_": false,
	} {
		if SecretName(name) != want {
			t.Errorf("SecretName(%q) = %v", name, !want)
		}
	}
}

// No text takes more than linear time, give or take.
func TestSecretValue(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"DEPLOY", fake("ghp_", 36), true},
		{"DATABASE_URL", "postgres://app:hunter2hunter2@db/app", true},
		{"CERT", "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQ\n-----END " + "PRIVATE KEY-----", true},
		{"https_proxy", "http://me:hunter2hunter2@proxy:8080", false},
		{"DATABASE_URL", "postgres://localhost/app", false},
		{"PATH", "/usr/local/bin:/usr/bin:/bin", false},
		{"LANG", "C.UTF-8", false},
		{"GIT_COMMIT", "9f2c1e0d4b7a8c6e5d3f1a2b4c6d8e0f1a3b5c7d", false},
		{"EMPTY", "", false},
	} {
		if got := SecretValue(tt.name, tt.value); got != tt.want {
			t.Errorf("SecretValue(%q, %q) = %v", tt.name, tt.value, got)
		}
	}
}

func TestRedactHostileText(t *testing.T) {
	for _, unit := range []string{
		"sk-", "sk-a-", "eyJ-", "eyJaaaaaaaaaa.", "password=$(", "token=\"", "://", "a:b://", "-----BEGIN ", "Authorization: x ", "password=", "--password ", "bearer ", "= ", ": ", "\\\"", "github_pat_", "-u ", "-p ", "mysql -p", "docker login -p ", "aB3", "token: '",
	} {
		takes := func(size int) time.Duration {
			in := strings.Repeat(unit, size/len(unit))
			start := time.Now()
			var r *Redactor
			r.Redact(in)
			return time.Since(start)
		}
		// Eight times the text takes eight times as long, and 64 times where somebody looks at all of
		// it again and again. A busy machine is no reason three times.
		for try := 1; ; try++ {
			short, long := takes(32<<10), takes(256<<10)
			if long < time.Second || long < 24*short {
				break
			}
			if try == 3 {
				t.Errorf("%q repeated: 32 KiB take %v, 256 KiB %v", unit, short, long)
				break
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"--password=x", "mysql -px", "sshpass -p [redacted:x] -p y", "Zk3v9QpX7rT2mLw8Yb5NcD1fGh6JsKa4", `{"token":"abcdefgh"}`, "https://a:b@c", "Authorization: Digest a", "-----BEGIN PRIVATE KEY-----", "[redacted:x]", "password=[redacted:", "sk-abcdefghijklmnop123456"} {
		f.Add(s)
	}
	r := NewRedactor([]string{"A_TOKEN=0123abcd4567"})
	f.Fuzz(func(t *testing.T, s string) {
		once := r.Redact(s)
		if strings.Contains(once, "0123abcd4567") {
			t.Errorf("Redact(%q) = %q", s, once)
		}
		if twice := r.Redact(once); twice != once {
			t.Errorf("Redact(%q) = %q, then %q", s, once, twice)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor([]string{"A_TOKEN=0123456789abcdef", "B_SECRET=fedcba9876543210"})
	in := strings.Repeat("2026-01-02 compiling pkg/session: ok (3.2s), key=value see https://example.org/x?y=z\n", 1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.Redact(in)
	}
}

func BenchmarkNewRedactor(b *testing.B) {
	env := []string{"HOME=/home/me", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "GITHUB_TOKEN=0123456789abcdef"}
	for range 40 {
		env = append(env, "SOME_VARIABLE=some value of it")
	}
	for b.Loop() {
		NewRedactor(env)
	}
}
