"""Keys and JSON Web Tokens, made with openssl and not with the server's library: also such as no library would make."""

import base64
import functools
import hashlib
import hmac
import json
import pathlib
import subprocess
import time

__all__ = ["AUDIENCE", "ISSUER", "Key", "base64url", "claims", "compact", "hmac_token", "unsigned_token"]

ISSUER = "https://login.example"
AUDIENCE = "users"

# The options of `openssl genpkey` for each kind of key, and the algorithm that tokens use it with.
KINDS = {
    "ed25519": (["-algorithm", "ED25519"], "EdDSA"),
    "p256": (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "ES256"),
    "p384": (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "ES384"),
    "ed448": (["-algorithm", "ED448"], "EdDSA"),
    "x25519": (["-algorithm", "X25519"], "EdDSA"),
    "rsa": (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "RS256"),
    "rsa1024": (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "RS256"),
}


def openssl(*arguments, input=None):
    return subprocess.run(["openssl", *map(str, arguments)], input=input, capture_output=True, check=True, timeout=60).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(value):
    """JSON as tokens have it; a text or bytes are taken as they are, for what no library would write."""
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))).encode()


def claims(subject="ann", *, without=(), lifetime=3600, **others):
    """The claims of a token that is accepted, with others, and without some."""
    found = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "exp": int(time.time()) + lifetime, **others}
    return {name: value for name, value in found.items() if name not in without}


def unsigned_token(header, payload, signature=b""):
    return ".".join(base64url(part) for part in (compact(header), compact(payload), signature))


def hmac_token(secret, payload, header={"alg": "HS256", "typ": "JWT"}):
    signed = unsigned_token(header, payload).rpartition(".")[0]
    return f"{signed}.{base64url(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


class Key:
    """A pair of keys in a folder."""

    def __init__(self, folder, name="key", kind="ed25519"):
        self.kind, self.algorithm = kind, KINDS[kind][1]
        self.private = pathlib.Path(folder) / name
        self.public = pathlib.Path(folder) / f"{name}.pub"
        self.private.touch(mode=0o600)
        openssl("genpkey", *KINDS[kind][0], "-out", self.private)
        self.public.write_bytes(openssl("pkey", "-in", self.private, "-pubout"))
        self.public.chmod(0o644)
        self.private.chmod(0o600)

    @property
    def pem(self):
        return self.public.read_text()

    @functools.cached_property
    def der(self):
        return openssl("pkey", "-in", self.private, "-pubout", "-outform", "DER")

    def jwk(self, **others):
        """The public key as a JWK, with further members."""
        if self.kind == "ed25519":
            members = {"kty": "OKP", "crv": "Ed25519", "x": base64url(self.der[-32:])}
        elif self.kind == "p256":
            members = {"kty": "EC", "crv": "P-256", "x": base64url(self.der[-64:-32]), "y": base64url(self.der[-32:])}
        else:
            modulus = openssl("rsa", "-in", self.private, "-noout", "-modulus").decode().strip().partition("=")[2]
            members = {"kty": "RSA", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}
        return {**members, **others}

    @property
    def thumbprint(self):
        """RFC 7638."""
        members = {name: value for name, value in self.jwk().items() if name in ("crv", "e", "kty", "n", "x", "y")}
        return base64url(hashlib.sha256(json.dumps(members, sort_keys=True, separators=(",", ":")).encode()).digest())

    def signature(self, signed):
        """What the private key makes of some bytes, as tokens have it."""
        if self.kind == "ed25519":
            path = self.private.with_suffix(".signed")
            path.write_bytes(signed)
            return openssl("pkeyutl", "-sign", "-inkey", self.private, "-rawin", "-in", path)
        der = openssl("dgst", "-sha256", "-sign", self.private, input=signed)
        return raw(der) if self.kind == "p256" else der

    def token(self, payload=None, header=None, **others):
        """A signed token. Members of the header can be given by name; a header of bytes or text is taken as it is."""
        if header is None:
            header = {"alg": self.algorithm, "typ": "JWT", **others}
        signed = unsigned_token(header, claims() if payload is None else payload).rpartition(".")[0]
        return f"{signed}.{base64url(self.signature(signed.encode()))}"


def raw(der):
    """The two numbers of an ECDSA signature in 32 bytes each, from the DER that openssl makes."""
    numbers, rest = [], der[2:]
    while rest:
        length = rest[1]
        numbers.append(int.from_bytes(rest[2:2 + length], "big").to_bytes(32, "big"))
        rest = rest[2 + length:]
    return b"".join(numbers)
