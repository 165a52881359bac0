"""Which JSON Web Tokens are accepted, and the commands that make and explain them. `token show` asks what the server asks."""

import base64
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from support import USERSERVER, Server, TestCase, eventually
from tokens import AUDIENCE, ISSUER, Key, base64url, claims, compact, hmac_token, unsigned_token


def run(*arguments, input="", **settings):
    return subprocess.run([USERSERVER, *map(str, arguments)], input=input, capture_output=True, text=True, timeout=30, **settings)


class Tokens(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.key = Key(cls.keys)
        cls.p256, cls.rsa = Key(cls.keys, "p256", "p256"), Key(cls.keys, "rsa", "rsa")

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def answer(self, token, key=None, issuer=ISSUER, audience=AUDIENCE):
        """What `token show` says about a token: the exit code, and the line that says whether it is accepted."""
        path = key.public if isinstance(key, Key) else key or self.key.public
        result = run("token", "show", "-", "--access-key", path, "--access-issuer", issuer, "--access-audience", audience, input=token)
        line = next((line for line in result.stdout.splitlines() if line.startswith("accepted")), result.stderr)
        return result.returncode, line.removeprefix("accepted").strip(), result

    def accepts(self, token, *arguments, **settings):
        status, line, result = self.answer(token, *arguments, **settings)
        self.assertEqual((status, line[:14]), (0, "yes, by the ke"), (token, result))
        return result.stdout

    def refuses(self, token, says, *arguments, reason="not accepted", **settings):
        """Checks that a token is refused, with the reason that the client gets, and the one in the log."""
        status, line, result = self.answer(token, *arguments, **settings)
        self.assertEqual(status, 1, result)
        self.assertEqual(line.partition(":")[0], f"no, the token is {reason}", result)
        self.assertIn(says, line, result)

    def unreadable(self, token, says):
        """Checks that a text is no token at all."""
        status, line, result = self.answer(token)
        self.assertEqual((status, result.stdout), (65, ""), result)
        self.assertIn(says, line)

    def file(self, content, mode=0o644, name="keys"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        path.chmod(mode)
        return path

    def unusable(self, path, says, status=78):
        """Checks that neither the server nor `token show` takes a file with keys; returns the message."""
        options = ["--access-key", path, "--access-issuer", ISSUER, "--access-audience", AUDIENCE]
        server = run("--db", self.folder / "users.db", "--listen", "127.0.0.1:0", *options)
        shown = run("token", "show", "-", *options, input=self.key.token())
        for result in (server, shown):
            self.assertEqual(result.returncode, status, result)
            self.assertIn(says, result.stderr)
            self.assertTrue(result.stderr.startswith("userserver: error: "), result)
        self.assertFalse((self.folder / "users.db").exists())
        return server.stderr


class Signatures(Tokens):
    def test_each_algorithm_is_accepted_with_its_key(self):
        for key in (self.key, self.p256, self.rsa):
            self.accepts(key.token(), key)
            self.accepts(key.token(), self.file({"keys": [key.jwk(kid="a")]}))
            self.assertIn(key.thumbprint, self.accepts(key.token(), key))

    def test_an_altered_token_is_refused(self):
        for key in (self.key, self.p256, self.rsa):
            header, payload, signature = key.token().split(".")
            other = base64url(compact(claims("bob")))
            self.refuses(f"{header}.{other}.{signature}", "made its signature", key)
            for altered in (bytes(64), bytes([0] * 31 + [1] + [0] * 31 + [1]), b"", b"x" * 63, b"x" * 65, bytes(256), bytes([255]) * 64):
                self.refuses(f"{header}.{payload}.{base64url(altered)}", "made its signature", key)
            header = base64url(compact({"alg": key.algorithm, "typ": "JWT", "x": 1}))
            self.refuses(f"{header}.{payload}.{signature}", "made its signature", key)

    def test_the_signature_of_another_key_is_refused(self):
        for kind in ("ed25519", "p256", "rsa"):
            own, other = Key(self.folder, f"{kind}-1", kind), Key(self.folder, f"{kind}-2", kind)
            self.refuses(other.token(), "made its signature", own)
            # Also if it takes the name of the accepted key.
            self.refuses(other.token(kid=own.thumbprint), "made its signature", own)

    def test_no_signature_is_refused(self):
        for name in ("none", "None", "NONE", "nOnE", ""):
            for signature in (b"", b"x"):
                self.refuses(unsigned_token({"alg": name, "typ": "JWT"}, claims(), signature), "is none of RS256, ES256, and EdDSA")
        self.refuses(unsigned_token({"typ": "JWT"}, claims()), "has no alg", reason="malformed")
        for value in (None, 1, ["EdDSA"], {"EdDSA": 1}):
            self.refuses(self.key.token(header={"alg": value}), "has no alg", reason="malformed")

    def test_a_public_key_is_no_secret(self):
        for key in (self.key, self.p256, self.rsa):
            for secret in (key.pem.encode(), key.pem.strip().encode(), key.der, key.der[-32:], key.der[-65:], b""):
                for name in ("HS256", "HS384", "HS512"):
                    self.refuses(hmac_token(secret, claims(), {"alg": name}), "is none of", key)
                # The signature of a secret under the name of an accepted algorithm.
                self.refuses(hmac_token(secret, claims(), {"alg": key.algorithm}), "made its signature", key)

    def test_an_algorithm_must_fit_the_key(self):
        keys = (self.key, self.p256, self.rsa)
        for signing in keys:
            for named in keys:
                if signing is named:
                    continue
                token = signing.token(alg=named.algorithm)
                self.refuses(token, f"no key for {named.algorithm}", signing)
                self.refuses(token, "made its signature", named)
                self.refuses(signing.token(alg=named.algorithm, kid=signing.thumbprint), f"is not for {named.algorithm}", signing)
        for name in ("RS384", "RS512", "PS256", "ES384", "ES512", "ES256K", "Ed25519", "Ed448", "EDDSA", "rs256", "ML-DSA-65", "dir", "A" * 3000):
            self.refuses(self.rsa.token(alg=name), "is none of", self.rsa)

    def test_an_extension_that_must_be_understood_is_refused(self):
        for value in (["exp"], ["b64"], [], None, "b64", [1]):
            self.refuses(self.key.token(crit=value), "its header has crit")
        for value in (True, False):
            self.refuses(self.key.token(b64=value), "its header has b64")

    def test_a_key_in_the_header_is_never_used(self):
        forger = Key(self.folder, "forger")
        embedded = {"jwk": forger.jwk(kid="x"), "kid": "x"}
        for others in (embedded, {"jku": f"file://{self.file({'keys': [forger.jwk(kid='x')]})}", "kid": "x"},
                       {"x5u": "http://127.0.0.1:1/", "kid": "x"}, {"x5c": [base64.b64encode(forger.der).decode()]},
                       {"kid": f"../../../../..{forger.public}"}, {"kid": str(forger.public)}, {"kid": "' OR 1=1 --"}):
            self.refuses(forger.token(**others), "made its signature")
            # They do not harm a token with a good signature.
            self.accepts(self.key.token(**others))

    def test_a_type_must_be_that_of_an_access_token(self):
        for name in ("JWT", "jwt", "at+jwt", "application/at+jwt"):
            self.accepts(self.key.token(typ=name))
        self.accepts(self.key.token(header={"alg": "EdDSA"}))
        for name in ("logout+jwt", "dpop+jwt", "JOSE", "", 1, None, ["JWT"]):
            self.refuses(self.key.token(typ=name), "its type is neither")


class Shapes(Tokens):
    def test_a_text_that_is_no_token_is_malformed(self):
        header, payload, signature = self.key.token().split(".")
        for text, says in (("x", "1 parts"), ("a.b", "2 parts"), ("a.b.c.d.e", "5 parts"), ("..", "cannot be read"),
                           (f"{header}.{payload}", "2 parts"), (f"{header}.{payload}.{signature}.", "4 parts"),
                           (f"{header}=.{payload}.{signature}", "not base64url"), (f"{header}.{payload}.{signature}==", "not base64url"),
                           (f"{header}.{payload}.{signature} x", "not base64url"), (f"{header}.{payload[:4]}\n{payload[4:]}.{signature}", "not base64url"),
                           (f"{header}.{payload}.+/+/", "not base64url"), (f"{header}.{payload}.é", "not base64url"),
                           (f"{header}.{payload}.A", "not base64url"), (f"{header}.{payload}.AB", "not base64url")):
            self.unreadable(text, says)
        self.unreadable("", "the token is missing")

    def test_one_signature_has_one_spelling(self):
        # The last letter of 64 bytes has four bits that no byte uses.
        token = self.key.token()
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for step in (1, 2, 8, 15):
            self.unreadable(token[:-1] + letters[letters.index(token[-1]) ^ step], "not base64url")

    def test_eight_kibibytes_are_the_limit(self):
        def token(size):
            return self.key.token(claims(padding="x" * size))
        size = next(size for size in range(6000, 4000, -1) if len(unsigned_token({"alg": "EdDSA", "typ": "JWT"}, claims(padding="x" * size), bytes(64))) <= 8192)
        self.assertIn(len(token(size)), (8191, 8192))
        self.accepts(token(size))
        self.unreadable(token(size + 2), "at most 8192")
        self.unreadable("a" * 1_000_000, "at most 8192")

    def test_a_member_that_is_given_twice_is_refused(self):
        good = compact(claims()).decode()
        for double in ('{"sub":"bob",', '{"iss":"x",', '{"exp":99999999999,', '{"s\\u0075b":"bob",', '{"userstore":{"read":"all","read":[]},',
                       '{"x":{"a":1,"a":1},', '{"x":[{"a":1,"\\u0061":1}],'):
            self.unreadable(self.key.token(double + good[1:]), "is given twice")
        self.unreadable(self.key.token(good[:-1] + ',"sub":"bob"}'), "is given twice")
        for header in ('{"alg":"EdDSA","alg":"EdDSA"}', '{"alg":"none","alg":"EdDSA"}', '{"alg":"EdDSA","kid":"a","kid":"b"}',
                       '{"alg":"EdDSA","\\u0061lg":"none"}'):
            self.unreadable(self.key.token(header=header), "is given twice")

    def test_json_is_read_strictly(self):
        for text in ("", "null", "[]", '"x"', "1", "{", "{}x", "{,}", '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":1.}',
                     '{"a":NaN}', '{"a":Infinity}', '{"a":"\\x"}', '{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}', '{"a":"\\u+123"}', '{"a":"\n"}',
                     '{"a":tru}', '{"a" 1}', "{1:1}", b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}", '{"a":' * 17 + "1" + "}" * 17,
                     "[" * 3000, b"{\0}", '{"a":"'):
            self.unreadable(self.key.token(text), "cannot be read")
            self.unreadable(self.key.token(header=text), "cannot be read")
        self.accepts(self.key.token('{"a":[[],{},{"b":-0.5e+1}, true ,false,null,"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"],' + compact(claims()).decode()[1:]))


class Claims(Tokens):
    def test_a_time_has_thirty_seconds_of_skew(self):
        now = time.time()
        for end in (now + 3600, now + 5, now - 20, now - 20.5, 1e10):
            self.accepts(self.key.token(claims(exp=end)))
        for end in (now - 31, now - 3600, 0, -1, -1e300):
            self.refuses(self.key.token(claims(exp=end)), "in the past", reason="expired")
        for begin in (now, now + 20, now - 1e9, 0, -1e300):
            self.accepts(self.key.token(claims(nbf=begin)))
        for begin in (now + 45, now + 3600, 1e18, 1e300):
            self.refuses(self.key.token(claims(nbf=begin)), "in the future", reason="not yet valid")

    def test_an_end_is_required_and_the_time_of_issue_has_no_effect(self):
        self.refuses(self.key.token(claims(without=["exp"])), "exp is missing")
        for value in ("1e99", None, [], True, str(int(time.time()) + 60)):
            self.refuses(self.key.token(claims(exp=value)), "exp is missing or not a number")
            self.refuses(self.key.token(claims(nbf=value)), "nbf is not a number")
        for end in ("1e999", "253402300800", "99999999999999999999"):
            self.refuses(self.key.token(compact(claims(exp=12345678)).decode().replace("12345678", end)), "after the year 9999")
        for value in (time.time() + 1e6, 0, "x", None):
            self.accepts(self.key.token(claims(iat=value)))

    def test_an_expired_token_without_a_good_signature_is_not_said_to_be_expired(self):
        token = Key(self.folder, "other").token(claims(lifetime=-3600))
        self.refuses(token, "made its signature")

    def test_issuer_and_audience_are_compared_exactly(self):
        for value in ("", "https://login.example/", "HTTPS://login.example", "https://login.example ", "https://login.exampl", None, 1, [ISSUER]):
            self.refuses(self.key.token(claims(iss=value)), "iss is")
        self.refuses(self.key.token(claims(without=["iss"])), "iss is missing")
        for value in (AUDIENCE, [AUDIENCE], ["other", AUDIENCE]):
            self.accepts(self.key.token(claims(aud=value)))
        for value in ("", "Users", "user", "users,other", [], ["other"], [[AUDIENCE]], [AUDIENCE, 1], {AUDIENCE: 1}, None, 1):
            self.refuses(self.key.token(claims(aud=value)), "aud is")
        self.refuses(self.key.token(claims(without=["aud"])), "aud is missing")
        # Equal strings in Swift, but other bytes.
        self.refuses(self.key.token(claims(iss="e\u0301")), "iss is", issuer="\u00e9")
        self.accepts(self.key.token(claims(iss="\u00e9")), issuer="\u00e9")

    def test_a_subject_is_a_short_text_without_control_characters(self):
        for subject in ("a", "a" * 100, "ann@example.com", "Zo\u00eb \U0001F600", "😀" * 100):
            self.assertIn(f"subject     {subject}\n", self.accepts(self.key.token(claims(subject))))
        for subject, says in (("", "1 to 100"), ("a" * 101, "1 to 100"), ("a\n", "control"), ("\0", "control"), ("a\x7f", "control"), ("a\u0085b", "control"),
                              ("a\u2028b", "control"), (1, "not a text"), (None, "not a text"), (["a"], "not a text"), ("e\u0301", "NFC")):
            self.refuses(self.key.token(claims(subject)), says)
        self.refuses(self.key.token(claims(without=["sub"])), "sub is missing")

    def rights(self, **members):
        """The lines about the rights of an accepted token."""
        lines = dict(line.split(None, 1) for line in self.accepts(self.key.token(claims(userstore=members))).replace("adds users", "adds").splitlines())
        return [lines[name] for name in ("reads", "writes", "adds", "readable", "writable")]

    def test_what_is_absent_is_denied(self):
        denied = ["no users", "no users", "no", "all attributes", "all attributes"]
        self.assertEqual(self.rights(), denied)
        self.assertEqual(self.rights(read=[], write=[], add=False), denied)
        self.assertIn("reads       no users\n", self.accepts(self.key.token()))
        self.assertEqual(self.rights(readable=[], writable=[])[3:], ["no attributes", "no attributes"])

    def test_who_may_write_may_read(self):
        for rights, reads, writes in (({"read": [1]}, "1", "no users"), ({"write": [1]}, "1", "1"), ({"read": [2, 1], "write": [3, 2]}, "1, 2, 3", "2, 3"),
                                      ({"read": "all"}, "all users", "no users"), ({"write": "all"}, "all users", "all users"),
                                      ({"read": [1], "write": "all"}, "all users", "all users"), ({"read": "all", "write": [1]}, "all users", "1")):
            self.assertEqual(self.rights(**rights)[:2], [reads, writes], rights)
        self.assertEqual(self.rights(readable=["age", "name"], writable=["name", "zip"])[3:], ["age, name, zip", "name, zip"])
        # Without a list there is no limit; such a list must not lift the limit of the other one.
        self.assertEqual(self.rights(readable=["age"])[3:], ["age", "age"])
        self.assertEqual(self.rights(writable=["age"])[3:], ["all attributes", "age"])

    def test_ids_are_64_bit_integers(self):
        ends = [-(1 << 63), -1, 0, (1 << 63) - 1]
        self.assertEqual(self.rights(read=ends)[0], ", ".join(map(str, ends)))
        for value in ("1.0", "1e3", "9223372036854775808", "-9223372036854775809", "1e999", '"1"', "null", "true", "[1]", "{}", '"all"'):
            for name in ("read", "write"):
                text = compact(claims(userstore={name: ["@"]})).decode().replace('"@"', value)
                self.refuses(self.key.token(text), f"{name} has an id that is not a 64-bit integer")
        for value in ("none", "ALL", "", 1, True, None, {"ids": [1]}, "1,2"):
            self.refuses(self.key.token(claims(userstore={"read": value})), "neither \"all\" nor a list")
        self.refuses(self.key.token(claims(userstore={"write": [5, 6, 5]})), "the id 5 twice")

    def test_a_thousand_ids_are_the_limit(self):
        self.accepts(self.key.token(claims(userstore={"read": list(range(1000))})))
        self.accepts(self.key.token(claims(userstore={"read": list(range(500)), "write": list(range(500))})))
        self.refuses(self.key.token(claims(userstore={"read": list(range(1001))})), "1001 ids")
        self.refuses(self.key.token(claims(userstore={"read": list(range(500)), "write": list(range(400, 901))})), "1001 ids")

    def test_five_hundred_attributes_are_the_limit(self):
        names = [f"{number:x}" for number in range(501)]
        self.accepts(self.key.token(claims(userstore={"read": "all", "readable": names[:500]})))
        self.accepts(self.key.token(claims(userstore={"read": "all", "readable": names[:250], "writable": names[:250]})))
        self.refuses(self.key.token(claims(userstore={"read": "all", "readable": names})), "501 attributes")
        self.refuses(self.key.token(claims(userstore={"read": "all", "readable": names[:250], "writable": names[:251]})), "501 attributes")

    def test_a_mistyped_claim_is_refused(self):
        for members, says in (({"reads": "all"}, '"reads"'), ({"Read": "all"}, '"Read"'), ({"admin": True}, '"admin"'), ({"read ": []}, '"read "'), ({"": 1}, '""'),
                              ({"add": "true"}, "neither true nor false"), ({"add": 1}, "neither true nor false"), ({"add": None}, "neither true nor false"),
                              ({"readable": "name"}, "not a list"), ({"readable": [1]}, "not a list"), ({"writable": None}, "not a list"),
                              ({"readable": ["age", "age"]}, '"age" twice'), ({"writable": [""]}, "cannot be the name"), ({"writable": ["id"]}, "cannot be the name"),
                              ({"writable": ["a\n"]}, "cannot be the name"), ({"readable": ["a" * 201]}, "cannot be the name")):
            self.refuses(self.key.token(claims(userstore=members)), says)
        for value in ("all", [], None, 1, True):
            self.refuses(self.key.token(claims(userstore=value)), "userstore is not an object")
        # Other claims are for others.
        self.accepts(self.key.token(claims(jti="1", scope="read", read="all", roles=["admin"])))


class KeyFiles(Tokens):
    def test_a_file_can_have_several_keys(self):
        keys = (self.key, self.p256, self.rsa)
        for content in ("".join(key.pem for key in keys), "a comment\n" + "\n\nanother\n".join(key.pem for key in keys).replace("\n", "\r\n"),
                        {"keys": [key.jwk() for key in keys]}, {"keys": [key.jwk(kid="same", alg=key.algorithm, use="sig", key_ops=["verify"], x5t="x") for key in keys], "x": 1}):
            path = self.file(content)
            for key in keys:
                self.accepts(key.token(), path)
                self.accepts(key.token(kid=key.thumbprint), path)
                self.accepts(key.token(kid="unknown"), path)
                self.accepts(key.token(kid="same"), path)

    def test_a_name_chooses_the_key(self):
        other = Key(self.folder, "other")
        path = self.file({"keys": [self.key.jwk(kid="a"), other.jwk(kid="b")]})
        self.assertIn(self.key.thumbprint, self.accepts(self.key.token(kid="a"), path))
        self.assertIn(other.thumbprint, self.accepts(other.token(kid="b"), path))
        self.refuses(other.token(kid="a"), 'the key "a" not for EdDSA made its signature', path)
        for name in (1, None, ["a"], {"a": 1}):
            self.refuses(self.key.token(kid=name), "kid is not a text", path, reason="malformed")

    def test_a_private_key_is_refused(self):
        for key in (self.key, self.p256, self.rsa):
            content = key.private.read_text()
            for text in (content, self.key.pem + content):
                path = self.file(text, mode=0o600)
                message = self.unusable(path, "is private")
                self.assertNotIn(content.splitlines()[1], message)
        for member in ("d", "p", "q", "dp", "dq", "qi", "oth"):
            self.unusable(self.file({"keys": [self.key.jwk(), self.key.jwk(**{member: "AAAA"})]}), "key 2 is private")
        for jwk in ({"kty": "oct", "k": "c2VjcmV0"}, {"kty": "oct"}, self.key.jwk(k="AAAA")):
            self.unusable(self.file({"keys": [self.key.jwk(), jwk]}), "key 2 is a shared secret")
        old = subprocess.run(["openssl", "rsa", "-in", self.rsa.private, "-traditional"], capture_output=True, check=True, text=True).stdout
        self.unusable(self.file(old), "is private")

    def test_a_key_that_is_too_weak_or_of_another_kind_is_refused(self):
        for kind in ("rsa1024", "p384", "ed448", "x25519"):
            self.unusable(self.file(self.key.pem + Key(self.folder, kind, kind).pem), "key 2 is invalid, or is none of RSA with at least 2048 bits")
        self.unusable(self.file({"keys": [Key(self.folder, "weak", "rsa1024").jwk()]}), "key 1 is invalid, or is none of")
        for jwk in (self.p256.jwk(x="AAAA"), self.p256.jwk(x=self.p256.jwk()["y"]), self.key.jwk(x="AAAA"), self.rsa.jwk(e="AA"), self.rsa.jwk(e="Ag")):
            self.unusable(self.file({"keys": [jwk]}), "key 1 is invalid")
        for jwk in (self.key.jwk(x="+/=="), self.key.jwk(x=1), {"kty": "OKP", "crv": "Ed25519"}, {"kty": "RSA", "n": "AAAA"}):
            self.unusable(self.file({"keys": [jwk]}), "of key 1 is not base64url")
        self.unusable(self.file({"keys": [self.key.jwk(kid=1)]}), "the kid of key 1")

    def test_a_set_can_have_keys_for_other_purposes(self):
        others = [self.key.jwk(use="enc", kid="a"), self.rsa.jwk(alg="RSA-OAEP"), self.rsa.jwk(alg="PS256"), {"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"},
                  {"kty": "AKP", "alg": "ML-DSA-65", "pub": "AA"}, self.key.jwk(key_ops=["encrypt"]), {}]
        path = self.file({"keys": [*others, self.p256.jwk()]})
        self.accepts(self.p256.token(), path)
        self.refuses(self.key.token(kid="a"), "no key for EdDSA", path)
        self.refuses(self.rsa.token(), "no key for RS256", path)
        self.unusable(self.file({"keys": others}), "it has no key for")

    def test_a_hundred_keys_are_the_limit(self):
        for make in (lambda count: "".join(key.pem for key in keys[:count]), lambda count: {"keys": [key.jwk() for key in keys[:count]]}):
            keys = [self.key] * 100 + [self.p256]
            self.accepts(self.key.token(), self.file(make(100)))
            self.unusable(self.file(make(101)), "it has 101 keys, and at most 100 are allowed")

    def test_what_is_no_file_with_keys_is_refused(self):
        certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        pem = self.key.pem
        for content, says in (("", "neither PEM nor a JWKS"), ("hello", "neither PEM nor a JWKS"), (certificate, "is a certificate"), ("{", "cannot be read"),
                              ("{}", "no list of keys"), ('{"keys":{}}', "no list of keys"), ('{"keys":[]}', "no key for"), ('{"keys":[1]}', "key 1 is not an object"),
                              ('{"keys":[],"keys":[]}', "is given twice"), (pem[:-10], "key 1 has no end"), (pem + pem[:40], "key 2 has no end"),
                              (pem.replace("END PUBLIC", "END"), "key 1 has no end"), (pem[:40] + pem, "key 1"), (pem.replace("MC", "!!"), "key 1 is invalid"),
                              ("-----BEGIN EC PARAMETERS-----\nBg==\n-----END EC PARAMETERS-----\n", '"EC PARAMETERS", which is no public key'),
                              ("x" * (1 << 20) + "x", "more than 1 MiB")):
            self.unusable(self.file(content), says)
        self.unusable(self.folder / "missing", "there is no", status=66)
        self.unusable(self.folder, "is not a file", status=66)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.unusable(pipe, "is not a file", status=66)

    def test_a_file_that_others_can_change_is_refused(self):
        for mode in (0o666, 0o664, 0o646):
            self.assertIn("chmod go-w", self.unusable(self.file(self.key.pem, mode), "can be changed by other accounts"))
        link = self.folder / "link"
        link.symlink_to(self.file(self.key.pem))
        self.accepts(self.key.token(), link)


class Rotation(Tokens):
    """A server that runs reads the file again."""

    def server(self, path):
        options = ["--access-key", str(path), "--access-issuer", ISSUER, "--access-audience", AUDIENCE]
        return self.enterContext(Server(*options, database=self.folder / "users.db"))

    def says(self, server, text, within=5):
        eventually(lambda: text in server.log, text, within)

    def replace(self, path, content):
        new = path.with_suffix(".new")
        new.write_text(content)
        new.chmod(0o644)
        new.rename(path)

    def test_it_says_at_start_what_it_accepts(self):
        server = self.server(self.file(self.key.pem))
        self.assertIn(f"userserver: accepts tokens of {ISSUER} for {AUDIENCE}, signed with the key in {self.folder}/keys\n", server.log)
        self.assertIn("own token stays for local use", server.log)

    def test_keys_are_added_and_withdrawn(self):
        path = self.file(self.key.pem + self.p256.pem)
        server = self.server(path)
        self.replace(path, self.p256.pem + self.rsa.pem)
        self.says(server, f"{path} has changed: access keys: 2, withdrawn: 1\n")
        # In place, with the same length, and with the old time.
        before = path.stat()
        path.write_text(self.rsa.pem + self.p256.pem)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.says(server, f"{path} has changed: access keys: 2, withdrawn: 0\n")
        path.write_text(json.dumps({"keys": [self.key.jwk()]}))
        self.says(server, f"{path} has changed: access keys: 1, withdrawn: 2\n")

    def test_a_change_is_noticed_within_a_second(self):
        path = self.file(self.key.pem)
        server = self.server(path)
        for number, key in enumerate([self.p256, self.rsa, self.key, self.p256], start=1):
            self.replace(path, key.pem)
            start = time.monotonic()
            eventually(lambda: server.log.count("access keys: 1, withdrawn: 1") == number, "the change is noticed", 5)
            self.assertLess(time.monotonic() - start, 2)

    def test_a_broken_file_changes_nothing_and_is_reported_once(self):
        path = self.file(self.key.pem)
        server = self.server(path)
        self.replace(path, self.key.pem[:-10])
        self.says(server, "key 1 has no end; the access keys stay as they were\n")
        path.unlink()
        self.says(server, f"there is no {path}; the access keys stay as they were\n")
        self.replace(path, self.key.private.read_text())
        self.says(server, "is private, and everybody who has it can issue tokens; the access keys stay as they were\n")
        # It is reported once, however often it is read.
        threading.Event().wait(2)
        self.assertEqual(server.log.count("is private"), 1)
        self.assertEqual(server.log.count("there is no"), 1)
        # The same content again is no change of keys, but a mistake after it is reported.
        self.replace(path, self.key.pem)
        threading.Event().wait(1)
        path.chmod(0o666)
        self.says(server, "can be changed by other accounts; the access keys stay as they were\n")
        path.chmod(0o644)
        self.replace(path, self.p256.pem)
        self.says(server, "has changed: access keys: 1, withdrawn: 1\n")

    def test_the_server_ends_as_quickly_as_without_keys(self):
        server = self.server(self.file(self.key.pem))
        start = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - start, 2)


class Commands(Tokens):
    def make(self, *options, name="dev", status=0, **settings):
        path = self.folder / name
        result = run("token", "key", path, *options, **settings)
        self.assertEqual(result.returncode, status, result)
        return path, result

    def issue(self, key, *options, status=0):
        result = run("token", "issue", "--key", key, "--issuer", ISSUER, "--audience", AUDIENCE, "--subject", "ann", *options)
        self.assertEqual(result.returncode, status, result)
        return result.stdout.strip() if status == 0 else result.stderr

    def test_keys_are_made_with_their_modes(self):
        for options, mask in (([], 0o022), (["--algorithm", "ES256"], 0o077), (["--algorithm", "EdDSA"], 0o000)):
            path, result = self.make(*options, name=f"key{mask}", umask=mask)
            public = pathlib.Path(f"{path}.pub")
            self.assertEqual([stat.S_IMODE(file.stat().st_mode) for file in (path, public)], [0o600, 0o644])
            self.assertEqual((result.stdout, result.stderr), (f"created {path} and {public}\n", ""))
            # openssl finds that they belong together.
            made = subprocess.run(["openssl", "pkey", "-in", path, "-pubout"], capture_output=True, check=True).stdout
            self.assertEqual(made, public.read_bytes())
            self.accepts(self.issue(path), public)

    def test_no_file_is_overwritten(self):
        path, _ = self.make()
        before = (path.read_text(), pathlib.Path(f"{path}.pub").read_text())
        self.assertIn(f"{path} exists", self.make(status=73)[1].stderr)
        self.assertEqual((path.read_text(), pathlib.Path(f"{path}.pub").read_text()), before)
        path.unlink()
        self.assertIn(f"{path}.pub exists", self.make(status=73)[1].stderr)
        self.assertFalse(path.exists())
        link = self.folder / "link"
        link.symlink_to(self.folder / "target")
        self.assertIn("exists", self.make(name="link", status=73)[1].stderr)
        self.assertFalse((self.folder / "target").exists())
        self.assertIn("cannot create", self.make(name="no/folder", status=73)[1].stderr)

    def test_a_token_has_what_was_asked_for(self):
        path, _ = self.make()
        lines = self.accepts(self.issue(path, "--read", "all", "--write", "-5,7", "--add", "--readable", "name,hair color", "--writable", "name", "--for", "2h"),
                             f"{path}.pub").splitlines()
        found = dict((line[:12].strip(), line[12:]) for line in lines)
        self.assertRegex(found.pop("expires"), r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, in 1 h 59 min$")
        self.assertIn(found.pop("key"), found.pop("accepted"))
        self.assertEqual(found, {"algorithm": "EdDSA", "subject": "ann", "issuer": ISSUER, "audience": AUDIENCE, "reads": "all users", "writes": "-5, 7",
                                 "adds users": "yes, and reads and writes those", "readable": "name, hair color", "writable": "name"})
        self.assertIn("in 59 min", self.accepts(self.issue(path), f"{path}.pub"))
        token = self.issue(path, "--read", "1,2")
        payload = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        self.assertEqual(payload["userstore"], {"read": [1, 2]})
        self.assertEqual(payload["exp"] - payload["iat"], 3600)

    def test_keys_of_openssl_can_issue(self):
        for key in (self.key, self.p256, self.rsa):
            self.accepts(self.issue(key.private), key)

    def test_a_private_key_that_others_can_read_is_refused(self):
        path, _ = self.make()
        for mode in (0o644, 0o640, 0o604, 0o620):
            path.chmod(mode)
            self.assertIn(f"hint: chmod 600 {path}", self.issue(path, status=78))
        path.chmod(0o600)
        self.assertIn("the private key, without .pub", self.issue(self.file(self.key.pem, 0o600), status=78))
        self.assertIn("is no private key", self.issue(self.file("x", 0o600), status=78))
        self.assertIn("userserver token key", self.issue(self.folder / "missing", status=66))
        self.assertIn("is no private key", self.issue(Key(self.folder, "weak", "rsa1024").private, status=78))

    def test_nothing_is_issued_that_the_server_would_refuse(self):
        path, _ = self.make()
        for options, says in ((["--subject", "a\nb"], "given twice"), (["--read", ",".join(map(str, range(1001)))], "1001 ids"),
                              (["--readable", "id"], "cannot be the name"), (["--readable", "a" * 9000], "at most 8192")):
            self.assertIn(says, self.issue(path, *options, status=64))
        for options in (["--read", "x"], ["--read", "1,"], ["--read", "9223372036854775808"], ["--for", "0s"], ["--for", "1"], ["--for", "999ms"], ["--readable", "a,,b"], ["extra"]):
            self.assertIn("hint: ", self.issue(path, *options, status=64))
        for subject in ("", "a\nb", "a" * 201):
            result = run("token", "issue", "--key", path, "--issuer", "i", "--audience", "a", "--subject", subject)
            self.assertEqual((result.returncode, result.stdout), (64, ""), result)
            self.assertIn("the server would refuse this token: sub", result.stderr)

    def test_a_hostile_token_cannot_act_on_the_terminal(self):
        evil = "\x1b]0;owned\x07\u202e\u200b\x9b31m\n"
        for token in (self.key.token(claims(evil, iss=evil, aud=[evil], userstore={evil: 1}), kid=evil), self.key.token(claims(userstore={"readable": [evil]}), alg=evil),
                      self.key.token('{"' + evil.encode("unicode_escape").decode().replace("\\x", "\\u00") + '":1,"x":}'), evil, f"a{evil}.b.c"):
            for options in ([], ["--access-key", self.key.public], ["--access-key", self.key.public, "--access-issuer", "x", "--access-audience", "y"]):
                for arguments, text in ((["-"], token), ([token], "")):
                    result = run("token", "show", *arguments, *options, input=text)
                    for letter in "\x1b\x07\u202e\u200b\x9b":
                        self.assertNotIn(letter, result.stdout + result.stderr, result)
                    self.assertLess(len(result.stdout + result.stderr), 3000)

    def test_a_token_is_explained_without_keys(self):
        token = self.key.token(claims(lifetime=-90_061, nbf=0))
        result = run("token", "show", token)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\nvalid from  1970-01-01 00:00:00 UTC, \d+ d \d+ h ago\nexpires     \S+ \S+ UTC, 1 d 1 h ago\n")
        self.assertIn("accepted    not checked: name the keys with --access-key\n", result.stdout)
        self.assertEqual(run("token", "show", input=token + "\n").stdout, result.stdout)
        result = run("token", "show", "-", input=unsigned_token({"alg": "none"}, {"exp": "x", "nbf": 1e300, "aud": 1, "iss": 2, "userstore": 3}))
        self.assertEqual(result.returncode, 0)
        for line in ("algorithm   none", "subject     missing", "issuer      not a text", "audience    not a text", "valid from  not in the years 1970 to 9999", "expires     not a number",
                     "mistake     sub is missing"):
            self.assertIn(line + "\n", result.stdout)

    def test_what_is_not_compared_is_said(self):
        result = run("token", "show", "-", "--access-key", self.key.public, input=self.key.token())
        self.assertEqual(result.returncode, 0, result)
        for name in ("issuer", "audience"):
            self.assertIn(f"note        the {name} is not compared without --access-{name}\n", result.stdout)

    def test_access_options_belong_together(self):
        key = ["--access-key", str(self.key.public)]
        for options, says in ((key, "--access-key needs --access-issuer"), ([*key, "--access-issuer", "i"], "--access-key needs --access-audience"),
                              (["--access-issuer", "i"], "--access-issuer needs --access-key"), (["--access-audience", "a"], "--access-audience needs --access-key"),
                              ([*key, "--access-issuer", "", "--access-audience", "a"], "--access-issuer must not be empty"),
                              ([*key, "--access-issuer", "i", "--access-audience", "a", "--no-token"], "--no-token and --access-key cannot be combined"),
                              ([*key, "--access-issuer", "i", "--access-audience", "a", *key], "--access-key is given twice")):
            result = run("--db", self.folder / "users.db", "--listen", "127.0.0.1:0", *options)
            self.assertEqual((result.returncode, result.stdout), (64, ""), result)
            self.assertIn(f"userserver: error: {says}", result.stderr)
        self.assertFalse((self.folder / "users.db").exists())

    def test_the_commands_are_in_the_help_and_leave_the_server_as_it_was(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("USAGE: userserver [<options>]\n       userserver token <command>\n", "--stream-age", "--access-key <path>", "SUBCOMMANDS:", "token"):
            self.assertIn(text, result.stdout)
        for arguments in (["token"], ["token", "--help"], ["help", "token"], ["token", "issue", "--help"], ["token", "show", "-h"], ["token", "key", "--help"]):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
            self.assertIn("userserver token", result.stdout)
        for arguments, hint in ((["token", "wat"], "userserver token --help"), (["token", "key"], "userserver token key --help"),
                                (["token", "issue", "--wat"], "userserver token issue --help"), (["wat"], "userserver --help"), (["tokens"], "userserver --help"),
                                (["token", "key", str(self.folder / "x"), "--no-token"], "userserver token key --help"),
                                (["token", "--read-only", "key", str(self.folder / "x")], "userserver token --help"),
                                (["--read-only", "token", "key", str(self.folder / "x")], "userserver --help")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stdout), (64, ""), result)
            self.assertIn(f"hint: see {hint}\n", result.stderr)
        self.assertFalse((self.folder / "x").exists())
        for shell in ("bash", "zsh", "fish"):
            result = run("--generate-completion-script", shell)
            self.assertEqual(result.returncode, 0)
            for word in ("access-key", "stream-age", "issue"):
                self.assertIn(word, result.stdout)

    def test_a_value_can_be_named_like_a_command(self):
        for options in (["--db", "token"], ["--db=token"]):
            result = run("--read-only", "--listen", "127.0.0.1:0", *options, cwd=self.folder)
            self.assertEqual(result.returncode, 66, result)
            self.assertIn("token", result.stderr)
