"""A second reader of Apple Pay's payment tokens, written from Apple's description and not from Tender.

Tests compare Tender with it: it must open what Tender opens. Needs the package `cryptography` and nothing else.
"""

import base64
import binascii
import datetime
import hashlib
import json
import re

from cryptography import x509
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ID_DATA = "2a864886f70d010701"
ID_SIGNED_DATA = "2a864886f70d010702"
SHA256 = "608648016503040201"
ECDSA_SHA256 = "2a8648ce3d040302"
RSA_SHA256 = "2a864886f70d01010b"
CONTENT_TYPE, MESSAGE_DIGEST, SIGNING_TIME, PROTECTION = (
    "2a864886f70d0109" + last for last in ("03", "04", "05", "34"))
SIGNER_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.29")
INTERMEDIATE_MARKER = x509.ObjectIdentifier("1.2.840.113635.100.6.2.14")
P256_PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")


class Refused(Exception):
    """Why a token is refused; `stage` is the step of Apple's procedure."""

    def __init__(self, stage, why=""):
        super().__init__(f"{stage}: {why}")
        self.stage = stage


def need(condition, stage, why):
    if not condition:
        raise Refused(stage, why)


class Element:
    """One element of BER: tag, contents, and the bytes it was read from."""

    def __init__(self, tag, content, encoding):
        self.tag, self.content, self.encoding = tag, content, encoding

    def children(self, strict=False):
        position, found = 0, []
        while position < len(self.content):
            element, position = read(self.content, position, strict)
            found.append(element)
        return found


def read(data, start, strict=False, depth=0):
    """The element at `start`, and where the next one begins. Lengths must be the shortest; `strict` is DER."""
    need(depth < 10 and start + 2 <= len(data), "format", "an element is cut off")
    tag, first, position = data[start], data[start + 1], start + 2
    need(tag & 0x1F != 0x1F and tag != 0, "format", "a long tag, or an end without a beginning")
    if first == 0x80:
        need(not strict and tag & 0x20, "format", "an indefinite length")
        while data[position:position + 2] != b"\0\0":
            _, position = read(data, position, strict, depth + 1)
        return Element(tag, data[start + 2:position], data[start:position + 2]), position + 2
    length = first
    if first > 0x80:
        count = first & 0x7F
        need(count <= 3 and position + count <= len(data), "format", "a long length")
        length = int.from_bytes(data[position:position + count], "big")
        need(length >= 0x80 and data[position] != 0, "format", "a length longer than needed")
        position += count
    end = position + length
    need(end <= len(data), "format", "a length beyond the end")
    return Element(tag, data[position:end], data[start:end]), end


def only(data, tag, strict=False):
    element, end = read(data, 0, strict)
    need(end == len(data) and element.tag == tag, "format", "something else, or something after it")
    return element


def take(elements, tag):
    need(elements and elements[0].tag == tag, "format", f"no element of tag {tag:02x}")
    return elements.pop(0)


def algorithm(element, null):
    """The identifier of an algorithm. `null` says whether its parameters may, must or must not be NULL."""
    parts = element.children(strict=True)
    need(parts and parts[0].tag == 6 and len(parts) <= 2, "signature", "an algorithm")
    has = len(parts) == 2
    need(not has or parts[1].encoding == b"\5\0", "signature", "an algorithm's parameters")
    need(null == "may" or has == (null == "must"), "signature", "an algorithm's parameters")
    return parts[0].content.hex()


class Signature:
    """The CMS of a token (RFC 5652), as far as Apple uses it."""

    def __init__(self, data):
        outer = only(data, 0x30).children()
        need(take(outer, 6).content.hex() == ID_SIGNED_DATA, "format", "no SignedData")
        body = only(take(outer, 0xA0).content, 0x30).children()
        need(not outer and take(body, 2).content == b"\1", "format", "the version")
        digests = take(body, 0x31).children()
        encapsulated = take(body, 0x30).children()
        need(len(encapsulated) == 1 and encapsulated[0].content.hex() == ID_DATA and encapsulated[0].tag == 6,
             "format", "the content is not detached")
        self.certificates = [element.encoding for element in take(body, 0xA0).children()]
        signers = take(body, 0x31).children()
        need(not body, "format", "something after the signers")
        need(len(digests) == 1 and digests[0].tag == 0x30 and algorithm(digests[0], "may") == SHA256,
             "signature", "the digest's algorithm")
        need(len(signers) == 1 and signers[0].tag == 0x30, "signature", "not one signer")
        fields = signers[0].children(strict=True)
        need(take(fields, 2).content == b"\1", "format", "the signer's version")
        name = take(fields, 0x30).children(strict=True)
        need(len(name) == 2 and name[0].tag == 0x30 and name[1].tag == 2, "format", "the signer's name")
        self.issuer, self.serial = name[0].encoding, name[1].content
        need(algorithm(take(fields, 0x30), "may") == SHA256, "signature", "the signer's digest")
        self.attributes = take(fields, 0xA0)
        self.algorithm = take(fields, 0x30)
        self.value = take(fields, 4).content
        if fields:
            need(take(fields, 0xA1).content, "format", "no unsigned attributes in their set")
        need(not fields, "format", "something after the signer's value")

    def signed(self):
        """The attributes by type; each once, with one value, in DER's order."""
        found, previous = {}, b""
        for attribute in self.attributes.children(strict=True):
            need(attribute.tag == 0x30 and previous < attribute.encoding, "signature", "the attributes' order")
            previous = attribute.encoding
            parts = attribute.children(strict=True)
            need(len(parts) == 2 and parts[0].tag == 6 and parts[1].tag == 0x31, "signature", "an attribute")
            values = parts[1].children(strict=True)
            need(len(values) == 1 and parts[0].content not in found, "signature", "an attribute's values")
            found[parts[0].content] = values[0]
        return {key.hex(): value for key, value in found.items()}


class Chain:
    """From the signer to the root. Made once for the same two certificates."""

    def __init__(self, encodings, root):
        if len(encodings) == 3:
            trusted = root.public_bytes(serialization.Encoding.DER)
            encodings = [encoding for encoding in encodings if encoding != trusted]
        need(len(encodings) == 2, "certificates", "not two certificates")
        try:
            for encoding in encodings:
                only(encoding, 0x30, strict=True)
            pair = [x509.load_der_x509_certificate(encoding) for encoding in encodings]
            need(all(c.version is x509.Version.v3 for c in pair), "certificates", "the version")
            marked = [[has(c, marker) for c in pair] for marker in (SIGNER_MARKER, INTERMEDIATE_MARKER)]
        except Refused:
            raise
        except Exception:  # the library has an exception of its own for each way to be unreadable
            raise Refused("certificates", "unreadable")
        need(sum(marked[0]) == 1, "certificates", "not one signer")
        need(sum(marked[1]) == 1 and marked[0] != marked[1], "certificates", "no intermediate")
        self.signer, self.intermediate = (pair[column.index(True)] for column in marked)
        self.root = root
        try:
            self.verify_chain()
        except Refused:
            raise
        except Exception as error:  # the library has an exception of its own for each way to be unreadable
            raise Refused("chain", repr(error))

    def verify_chain(self):
        signer, intermediate = self.signer, self.intermediate
        for certificate in (signer, intermediate):
            for extension in certificate.extensions:
                known = isinstance(extension.value, (x509.BasicConstraints, x509.KeyUsage))
                need(known or not extension.critical, "chain", "an unknown critical extension")
        need(signer.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature, "chain", "usage")
        constraints = [e.value for e in signer.extensions if isinstance(e.value, x509.BasicConstraints)]
        need(not any(c.ca for c in constraints), "chain", "the signer is an authority")
        need(intermediate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca, "chain", "no authority")
        need(intermediate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign, "chain", "usage")
        need(intermediate.issuer == self.root.subject and signer.issuer == intermediate.subject, "chain", "names")
        self.issued(intermediate, self.root)
        self.issued(signer, intermediate)
        self.key = signer.public_key()
        if isinstance(self.key, ec.EllipticCurvePublicKey):
            info = only(signer.tbs_certificate_bytes, 0x30).children(strict=True)[6].encoding
            need(info.startswith(P256_PREFIX + b"\4"), "chain", "the form of the signer's key")

    @staticmethod
    def issued(certificate, issuer):
        need(isinstance(certificate.signature_hash_algorithm, (hashes.SHA256, hashes.SHA384)), "chain", "a digest")
        outer = only(certificate.public_bytes(serialization.Encoding.DER), 0x30).children(strict=True)
        algorithm(outer[1], "mustn't")
        issuer.public_key().verify(
            certificate.signature, certificate.tbs_certificate_bytes,
            ec.ECDSA(certificate.signature_hash_algorithm))

    def valid_at(self, time):
        return all(c.not_valid_before <= time <= c.not_valid_after for c in (self.signer, self.intermediate, self.root))


def has(certificate, marker):
    return any(extension.oid == marker for extension in certificate.extensions)


def decoded(text, stage="format"):
    need(isinstance(text, str) and text, stage, "no text")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise Refused(stage, "no base64")
    need(base64.b64encode(data).decode() == text, stage, "another spelling of base64")
    return data


def thirty_two(text):
    need(isinstance(text, str) and re.fullmatch("[0-9a-fA-F]{64}", text), "format", "no 64 hexadecimal digits")
    return bytes.fromhex(text)


def once(pairs):
    found = dict(pairs)
    need(len(found) == len(pairs), "format", "a key twice")
    return found


def integer_time(element):
    text = element.content.decode("ascii", "replace")
    if element.tag == 0x17 and re.fullmatch(r"[0-9]{12}Z", text):
        year = int(text[:2])
        text = f"{1900 + year if year >= 50 else 2000 + year}{text[2:]}"
    else:
        need(element.tag == 0x18 and re.fullmatch(r"[0-9]{14}Z", text) and text >= "2050",
             "signingTime", "a malformed time")
    try:
        return datetime.datetime.strptime(text, "%Y%m%d%H%M%SZ")
    except ValueError:
        raise Refused("signingTime", "no time of the calendar")


class Reader:
    """Opens the tokens of one merchant."""

    def __init__(self, root_pem, key_pem, merchant):
        self.root = x509.load_pem_x509_certificate(root_pem)
        self.key = serialization.load_pem_private_key(key_pem, None)
        self.party = hashlib.sha256(merchant.encode()).digest()
        spki = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.key_hash = hashlib.sha256(spki).digest()
        self.chains = {}

    def open(self, text, at):
        """The text inside the token; raises `Refused`."""
        try:
            document = json.loads(text.decode("utf-8"), object_pairs_hook=once)
            json.dumps(document, ensure_ascii=False).encode("utf-8")  # half a character is none
        except (ValueError, RecursionError):
            raise Refused("format", "no JSON")
        need(isinstance(document, dict), "format", "no object")
        token = document.get("paymentData", document)
        need(isinstance(token, dict), "format", "no paymentData")
        header = token.get("header")
        need(isinstance(header, dict) and token.get("version") in ("EC_v1", "RSA_v1"), "format", "no token")
        is_rsa = token["version"] == "RSA_v1"
        wanted, other = ("wrappedKey", "ephemeralPublicKey")[::1 if is_rsa else -1]
        need(header.get(other) is None, "format", "two keys")
        material, data = decoded(header.get(wanted)), decoded(token.get("data"))
        transaction, key_hash = thirty_two(header.get("transactionId")), decoded(header.get("publicKeyHash"))
        application = header.get("applicationData")
        content = material + data + transaction + (thirty_two(application) if application is not None else b"")
        self.verify(decoded(token.get("signature")), content, is_rsa, at)
        need(len(key_hash) == 32, "format", "the key's hash")
        need(key_hash == self.key_hash, "key", "another key")
        return self.decrypt(material, data)

    def verify(self, data, content, is_rsa, at):
        signature = Signature(data)
        key = tuple(signature.certificates)
        if key not in self.chains:
            self.chains[key] = Chain(signature.certificates, self.root)
        chain = self.chains[key]
        signer = chain.signer
        need(signature.issuer == signer.issuer.public_bytes(), "signature", "another issuer")
        need(signature.serial == integer(signer.serial_number), "signature", "another serial number")
        name = algorithm(signature.algorithm, "must" if is_rsa else "mustn't")
        need(name == (RSA_SHA256 if is_rsa else ECDSA_SHA256), "signature", "an algorithm")
        public = chain.key
        need(isinstance(public, rsa.RSAPublicKey) if is_rsa else
             isinstance(public, ec.EllipticCurvePublicKey) and public.curve.name == "secp256r1", "signature", "a key")
        attributes = signature.signed()
        time = self.check_attributes(attributes, content, name)
        signed = b"\x31" + signature.attributes.encoding[1:]
        try:
            if is_rsa:
                public.verify(signature.value, signed, padding.PKCS1v15(), hashes.SHA256())
            else:
                public.verify(signature.value, signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise Refused("signature", "not valid")
        need(chain.valid_at(time), "chain", "not valid then")
        need(abs((at - time).total_seconds()) <= 300, "signingTime", "outside of the window")

    @staticmethod
    def check_attributes(attributes, content, name):
        kind, digest = attributes.get(CONTENT_TYPE), attributes.get(MESSAGE_DIGEST)
        need(kind is not None and kind.encoding.hex() == "0609" + ID_DATA, "signature", "the content type")
        protection = attributes.get(PROTECTION)
        if protection is not None:
            parts = protection.children(strict=True)
            need(protection.tag == 0x30 and len(parts) == 2 and parts[0].tag == 0x30 and parts[1].tag == 0xA1
                 and algorithm(parts[0], "may") == SHA256 and algorithm(parts[1], "may") == name,
                 "signature", "the algorithms' protection")
        need(digest is not None and digest.tag == 4 and digest.content == hashlib.sha256(content).digest(),
             "signature", "the digest")
        need(SIGNING_TIME in attributes, "signingTime", "no signing time")
        return integer_time(attributes[SIGNING_TIME])

    def decrypt(self, material, data):
        need(len(data) > 16, "decrypt", "too short")
        try:
            return AESGCM(self.content_key(material)).decrypt(bytes(16), data, None)
        except InvalidTag:
            raise Refused("decrypt", "the tag")

    def content_key(self, material):
        if isinstance(self.key, rsa.RSAPrivateKey):
            try:
                key = self.key.decrypt(material, padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
            except ValueError:
                raise Refused("unwrap", "the wrapped key")
            need(len(key) == 16, "unwrap", "the key's length")
            return key
        need(len(material) == 91 and material.startswith(P256_PREFIX + b"\4"), "unwrap", "the ephemeral key")
        try:
            device = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), material[26:])
        except ValueError:
            raise Refused("unwrap", "no point")
        secret = self.key.exchange(ec.ECDH(), device)
        return hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCMApple" + self.party).digest()


def integer(number):
    """The contents of a positive INTEGER."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big")
