"""Text for names and pages."""

import re

from text import escape


def slug(text):
    """`text` as the name of a Kubernetes object."""
    return re.sub('[^a-z0-9]+', '-', text.lower()).strip('-')


def page(title, paragraphs):
    """A page of HTML."""
    body = ''.join('<p>%s</p>' % escape.html(paragraph) for paragraph in paragraphs)
    return '<title>%s</title>%s' % (escape.html(title), body)
