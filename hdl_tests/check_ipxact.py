"""Holds an IP-XACT component to the rules of IEEE 1685-2009 that concern what we write.

    python3 check_ipxact.py component.xml metadata.json [index.xsd]

Rules, written from the standard's schema: every element is known, its children stand in the order of the schema and as
often as it allows; text has the type that it needs; names are unique where the schema has a key; references lead
somewhere; files exist; ports are those of metadata.json; bus interfaces map ports that exist, with the right direction,
and every signal that AXI4-Stream or a clock or reset needs. With the schema itself (IEEE's, which may not be passed on here;
it takes lxml) the component is validated by that first.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

NAMESPACE = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
S = f"{{{NAMESPACE}}}"
VLNV = {"vendor", "library", "name", "version"}

# Children in order: (name, least, most).
MANY = 10**9
RULES = {
    "component": [("vendor", 1, 1), ("library", 1, 1), ("name", 1, 1), ("version", 1, 1), ("busInterfaces", 0, 1),
                  ("model", 0, 1), ("fileSets", 0, 1), ("description", 0, 1), ("parameters", 0, 1),
                  ("vendorExtensions", 0, 1)],
    "busInterfaces": [("busInterface", 1, MANY)],
    "busInterface": [("name", 1, 1), ("displayName", 0, 1), ("description", 0, 1), ("busType", 1, 1),
                     ("abstractionType", 0, 1), ("master|slave", 1, 1), ("connectionRequired", 0, 1),
                     ("portMaps", 0, 1), ("parameters", 0, 1)],
    "busType": [], "abstractionType": [], "master": [], "slave": [],
    "portMaps": [("portMap", 1, MANY)],
    "portMap": [("logicalPort", 1, 1), ("physicalPort", 1, 1)],
    "logicalPort": [("name", 1, 1), ("vector", 0, 1)],
    "physicalPort": [("name", 1, 1), ("vector", 0, 1)],
    "parameters": [("parameter", 1, MANY)],
    "parameter": [("name", 1, 1), ("displayName", 0, 1), ("description", 0, 1), ("value", 1, 1)],
    "model": [("views", 0, 1), ("ports", 0, 1), ("modelParameters", 0, 1)],
    "views": [("view", 1, MANY)],
    "view": [("name", 1, 1), ("displayName", 0, 1), ("description", 0, 1), ("envIdentifier", 1, MANY),
             ("language", 0, 1), ("modelName", 0, 1), ("fileSetRef", 0, MANY)],
    "fileSetRef": [("localName", 1, 1)],
    "ports": [("port", 1, MANY)],
    "port": [("name", 1, 1), ("displayName", 0, 1), ("description", 0, 1), ("wire", 1, 1)],
    "wire": [("direction", 1, 1), ("vector", 0, 1), ("wireTypeDefs", 0, 1)],
    "vector": [("left", 1, 1), ("right", 1, 1)],
    "fileSets": [("fileSet", 1, MANY)],
    "fileSet": [("name", 1, 1), ("displayName", 0, 1), ("description", 0, 1), ("file", 0, MANY)],
    "file": [("name", 1, 1), ("fileType", 1, MANY)],
}
TEXT = {
    "vendor": r"\S+", "library": r"\S+", "name": r"\S+", "version": r"[A-Za-z0-9_.:-]+", "description": r".*",
    "direction": r"in|out|inout|phantom", "left": r"\d+", "right": r"\d+", "value": r".*", "localName": r"\S+",
    "envIdentifier": r"[A-Za-z0-9_+*.]*:[A-Za-z0-9_+*.]*:[A-Za-z0-9_+*.]*", "language": r"[A-Za-z]+",
    "modelName": r"[A-Za-z][A-Za-z0-9_]*",
    "fileType": r"verilogSource|vhdlSource|vhdlSource-93|systemVerilogSource|tclSource|user",
}
ATTRIBUTES = {"busType": VLNV, "abstractionType": VLNV, "left": {"format"}, "right": {"format"}, "value": {"id"}}
# Which way a signal of a stream's slave goes.
STREAM = {"TDATA": "in", "TVALID": "in", "TREADY": "out", "TLAST": "in", "TUSER": "in"}

problems = []


def wrong(where, what):
    problems.append(f"{where}: {what}")


def local(element):
    if not element.tag.startswith(S):
        wrong(element.tag, "not of the namespace")
        return element.tag
    return element.tag[len(S):]


def check(element, path):
    name = local(element)
    path = f"{path}/{name}"
    attributes = {key.removeprefix(S) for key in element.attrib}
    needed = ATTRIBUTES.get(name, set())
    if not attributes <= needed:
        wrong(path, f"attributes {sorted(attributes)}")
    if needed == VLNV and attributes != VLNV:
        wrong(path, "vendor, library, name and version are needed")
    if name in TEXT:
        text = element.text or ""
        if len(element) or not re.fullmatch(TEXT[name], text.strip(), re.S):
            wrong(path, f"text {text!r}")
        return
    if name not in RULES:
        wrong(path, "no known element")
        return
    if (element.text or "").strip():
        wrong(path, f"text {element.text!r}")
    children = [local(child) for child in element]
    at = 0
    for names, least, most in RULES[name]:
        count = 0
        while at < len(children) and children[at] in names.split("|"):
            count, at = count + 1, at + 1
        if not least <= count <= most:
            wrong(path, f"{count} times {names}")
    if at < len(children):
        wrong(path, f"{children[at]} is not allowed here")
    for child in element:
        check(child, path)


def texts(element, path):
    return [found.text for found in element.findall("/".join(S + part for part in path.split("/")))]


def unique(what, names):
    for name in {name for name in names if names.count(name) > 1}:
        wrong(what, f"{name} twice")


def references(root, folder, facts):
    ports = {}
    for port in root.iter(S + "port"):
        name, direction = texts(port, "name")[0], texts(port, "wire/direction")[0]
        left = texts(port, "wire/vector/left")
        ports[name] = (direction, int(left[0]) + 1 if left else 1)
    unique("ports", texts(root, "model/ports/port/name"))
    unique("busInterfaces", texts(root, "busInterfaces/busInterface/name"))
    unique("views", texts(root, "model/views/view/name"))
    said = {p["name"]: (p["direction"], p["width"]) for p in facts["project"]["top_ports"]}
    if said != ports:
        wrong("ports", f"{ports}, but metadata.json says {said}")
    sets = texts(root, "fileSets/fileSet/name")
    unique("fileSets", sets)
    for reference in texts(root, "model/views/view/fileSetRef/localName"):
        if reference not in sets:
            wrong("fileSetRef", reference)
    for name in texts(root, "fileSets/fileSet/file/name"):
        if not (folder / name).is_file():
            wrong("file", name)
    interfaces = {}
    for interface in root.iter(S + "busInterface"):
        name = texts(interface, "name")[0]
        kind = interface.find(S + "busType").attrib[S + "name"]
        slave = interface.find(S + "slave") is not None
        maps = {}
        for one in interface.iter(S + "portMap"):
            logical, physical = texts(one, "logicalPort/name")[0], texts(one, "physicalPort/name")[0]
            if physical not in ports:
                wrong(name, f"maps {physical}, which is no port")
                continue
            if logical in maps:
                wrong(name, f"{logical} twice")
            maps[logical] = ports[physical][0]
        interfaces[name] = kind
        for value in interface.iter(S + "value"):
            parts = value.attrib[S + "id"].split(".")
            if len(parts) != 3 or parts[:2] != ["BUSIFPARAM_VALUE", name.upper()]:
                wrong(name, f"parameter id {value.attrib[S + 'id']} names another interface")
        parameters = dict(zip(texts(interface, "parameters/parameter/name"),
                              texts(interface, "parameters/parameter/value")))
        if kind == "axis":
            flip = {"in": "out", "out": "in"}
            expected = {key: way if slave else flip[way] for key, way in STREAM.items() if key in maps}
            if maps != expected or not {"TDATA", "TVALID", "TREADY", "TLAST"} <= set(maps):
                wrong(name, f"stream {maps}")
        elif kind == "clock":
            if maps != {"CLK": "in"} or int(parameters["FREQ_HZ"]) <= 0:
                wrong(name, f"clock {maps} {parameters}")
        elif kind == "reset":
            if maps != {"RST": "in"} or parameters.get("POLARITY") not in ("ACTIVE_LOW", "ACTIVE_HIGH"):
                wrong(name, f"reset {maps} {parameters}")
        else:
            wrong(name, f"bus {kind}")
    for value in root.iter(S + "value"):
        if value.attrib[S + "id"].endswith("ASSOCIATED_BUSIF"):
            for reference in value.text.split(":"):
                if interfaces.get(reference) != "axis":
                    wrong("ASSOCIATED_BUSIF", reference)
        if value.attrib[S + "id"].endswith("ASSOCIATED_RESET") and interfaces.get(value.text) != "reset":
            wrong("ASSOCIATED_RESET", value.text)
    ids = [v.attrib[S + "id"] for v in root.iter(S + "value")]
    unique("ids", ids)


def main():
    component, metadata = map(Path, sys.argv[1:3])
    if len(sys.argv) > 3:
        from lxml import etree

        schema = etree.XMLSchema(etree.parse(sys.argv[3]))
        if not schema.validate(etree.parse(str(component))):
            problems.extend(map(str, schema.error_log))
    root = ET.parse(component).getroot()
    check(root, "")
    if local(root) != "component":
        wrong("root", root.tag)
    if not problems:
        references(root, component.parent, json.loads(metadata.read_text()))
    for problem in problems:
        print(problem, file=sys.stderr)
    raise SystemExit(1 if problems else 0)


main()
