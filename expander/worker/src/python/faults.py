"""What went wrong in a template, in words that name its files and none of the machine's."""

import formwork_python2 as python2

MOST_FRAMES = 20
LONGEST_MESSAGE = 4000
LONGEST_LINE = 200


def fault(error, imports):
    """The `Fault` of an exception."""
    message = text(error)
    frames = where(error.__traceback__, imports)
    line = ""
    if isinstance(error, SyntaxError):
        message = str(error.msg)
        line = syntax(error, imports, frames)
    kind, message = named(error, message)
    sentence = " ".join(message[:LONGEST_MESSAGE].split("\n"))
    found = {"kind": escaped(kind), "message": escaped(sentence), "frames": frames}
    hint = python2.hint(error, message, line)
    if hint:
        found["hint"] = hint
    return found


def text(error):
    """`str` of an exception; that is the template's own code and may fail as well."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except Exception:
        return "<unprintable %s>" % type(error).__name__


def named(error, message):
    """The kind: the exception's, but for what is a limit."""
    kind = type(error).__name__
    if isinstance(error, MemoryError):
        return "MemoryLimit", "the template needs more memory than it may have"
    return kind, message or "no message"


def where(traceback, imports):
    """Frames of the template and what it called, outermost first. The middle of a long way is left out."""
    frames = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<formwork:"):
            frames.append((traceback.tb_frame, traceback.tb_lineno))
            if len(frames) > MOST_FRAMES:
                del frames[MOST_FRAMES // 2]
        traceback = traceback.tb_next
    return [frame(code, line, imports) for code, line in frames]


def frame(frame, line, imports):
    code = frame.f_code
    function = "" if code.co_name == "<module>" else code.co_name
    if code.co_filename in imports:
        return place(code.co_filename, line, function, source(code.co_filename, line, imports))
    if code.co_filename.startswith("<frozen") or not code.co_filename.startswith("<"):
        return place("<python:%s>" % frame.f_globals.get("__name__", "?"), line, function, "")
    return place(code.co_filename, line, function, "")


def syntax(error, imports, frames):
    """The place of a syntax error is in no frame, since nothing of that file ran."""
    file, line = str(error.filename), int(error.lineno or 0)
    if file not in imports:
        return ""
    shown = source(file, line, imports)
    frames.append(place(file, line, "", shown))
    return shown


def place(file, line, function, shown):
    found = {"file": escaped(str(file)[:LONGEST_LINE]), "line": min(max(line or 0, 0), 2**32 - 1)}
    if function:
        found["function"] = escaped(str(function)[:LONGEST_LINE])
    if shown:
        found["text"] = escaped(shown[:LONGEST_LINE])
    return found


def source(name, line, imports):
    """A line of an import, without the white space around it."""
    lines = imports[name]["content"].split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def escaped(shown):
    """Control characters could redraw a terminal or forge a line of a log; half a surrogate pair is not Unicode."""
    if shown.isprintable():
        return shown
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in shown)


def static(kind, message):
    """A fault without an exception."""
    return {"kind": kind, "message": message}
