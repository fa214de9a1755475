"""Reads TypeScript's declarations, as far as Tender's own use the language, and checks values against them."""

import dataclasses
import re

TOKEN = re.compile(r'\s*(?://[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*")|([A-Za-z_$][\w$]*)|(=>|[{}()\[\]<>|;:,?=]))', re.DOTALL)
ANY = ("any", "unknown", "HTMLElement", "Window")


@dataclasses.dataclass(frozen=True)
class Member:
    type: object
    is_optional: bool = False
    parameters: int | None = None  # how many a method has; nothing for a value


class Declarations:
    """`functions` and `classes` are what a module exports; `shapes` are the members of classes and interfaces, and
    `names` what other types stand for."""

    def __init__(self, text):
        self.tokens = [match.groups() for match in TOKEN.finditer(text) if any(match.groups())]
        self.place = 0
        self.functions, self.shapes, self.names, self.classes = {}, {}, {}, []
        unread = TOKEN.sub("", text).strip()
        assert not unread, f"this is not read: {unread[:60]!r}"
        while self.place < len(self.tokens):
            self.declaration()

    # Reading

    def look(self, ahead=0):
        at = self.place + ahead
        return next(filter(None, self.tokens[at])) if at < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.look()
        assert not wanted or token in wanted, f"expected {wanted}, found {token!r}: {self.rest()}"
        self.place += 1
        return token

    def rest(self):
        return " ".join(next(filter(None, token)) for token in self.tokens[self.place:self.place + 12])

    def skip(self, token):
        return self.look() == token and bool(self.take())

    def declaration(self):
        self.skip("export")
        self.skip("declare")
        kind = self.take("function", "class", "interface", "type", "global")
        if kind == "global":
            self.take("{")
            while not self.skip("}"):
                self.declaration()
            return
        name = self.take()
        if kind == "function":
            self.functions[name] = self.method()
            self.take(";")
        elif kind == "type":
            self.take("=")
            self.names[name] = self.type()
            self.take(";")
        else:
            if self.skip("extends"):
                self.type()
            self.shapes[name] = self.members()
            self.classes += [name] if kind == "class" else []

    def members(self):
        found = {}
        self.take("{")
        while not self.skip("}"):
            if self.skip("["):
                self.take(), self.take(":"), self.type(), self.take("]"), self.take(":")
                found[""] = Member(self.type())
            else:
                self.look(1) not in ("(", ":", "?", "<") and self.skip("readonly")
                name = self.take().strip('"')
                is_optional = self.skip("?")
                if self.look() in ("(", "<"):
                    found.setdefault(name, self.method())
                else:
                    self.take(":")
                    found[name] = Member(self.type(), is_optional)
            self.skip(";") or self.skip(",")
        return found

    def method(self):
        if self.skip("<"):
            while not self.skip(">"):
                self.take()
        parameters = 0
        self.take("(")
        while not self.skip(")"):
            self.take()
            parameters += 1
            self.skip("?")
            self.take(":")
            self.type()
            self.skip(",")
        return Member(self.type() if self.skip(":") else ("name", "void", ()), parameters=parameters)

    def type(self):
        self.skip("|")
        choices = [self.single()]
        while self.skip("|"):
            choices.append(self.single())
        return choices[0] if len(choices) == 1 else ("choice", tuple(choices))

    def single(self):
        if self.look() == "(":
            self.method_type()
            return ("name", "unknown", ())
        if self.look() == "{":
            found = ("shape", self.members())
        elif self.look().startswith('"'):
            found = ("word", self.take().strip('"'))
        else:
            found = self.named()
        while self.skip("["):
            if not self.skip("]"):
                self.type(), self.take("]")
                found = ("name", "unknown", ())
            else:
                found = ("list", found)
        return found

    def named(self):
        self.skip("keyof")
        name, parameters = self.take(), []
        if self.skip("<"):
            while not self.skip(">"):
                parameters.append(self.type())
                self.skip(",")
        return ("name", name, tuple(parameters))

    def method_type(self):
        self.method()
        self.take("=>")
        self.type()

    # Checking

    def errors(self, kind, value, where):
        """The differences between a value and its type; `kind` is the type's name or the parsed type."""
        kind = ("name", kind, ()) if isinstance(kind, str) else kind
        return getattr(self, f"check_{kind[0]}")(*kind[1:], value, where)

    def check_word(self, word, value, where):
        return [] if value == word else [f"{where} is {value!r}, not {word!r}"]

    def check_list(self, kind, value, where):
        if not isinstance(value, list):
            return [f"{where} is no list: {value!r}"]
        return [found for place, one in enumerate(value) for found in self.errors(kind, one, f"{where}[{place}]")]

    def check_choice(self, choices, value, where):
        found = [self.errors(choice, value, where) for choice in choices]
        return [] if [] in found else [f"{where} is {value!r}, which is none of its choices"]

    def check_name(self, name, parameters, value, where):
        if name in ("Promise", "Partial"):
            return self.errors(parameters[0], value, where)
        if name in self.shapes:
            return self.check_shape(self.shapes[name], value, where)
        if name in self.names:
            return self.errors(self.names[name], value, where)
        if name in ANY:
            return []
        types = {"string": str, "number": (int, float), "boolean": bool, "Record": dict}
        if name in types:
            is_right = isinstance(value, types[name]) and isinstance(value, bool) == (name == "boolean")
        else:
            assert name in ("null", "undefined", "void"), f"{name} is not declared"
            is_right = value is None
        return [] if is_right else [f"{where} is no {name}: {value!r}"]

    def check_shape(self, members, value, where):
        if not isinstance(value, dict):
            return [f"{where} is no object: {value!r}"]
        values = {name: member for name, member in members.items() if name and member.parameters is None}
        found = [f"{where}.{name} is missing" for name, member in values.items()
                 if not member.is_optional and name not in value]
        for name, one in value.items():
            if one is None and name in values and values[name].is_optional:
                continue  # undefined, as WebDriver returns it
            if name in values:
                found += self.errors(values[name].type, one, f"{where}.{name}")
            elif "" not in members:
                found.append(f"{where}.{name} is not declared")
        return found
