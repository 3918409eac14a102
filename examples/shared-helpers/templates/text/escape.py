"""What must not stand in HTML as it is."""


def html(text):
    for plain, escaped in (('&', '&amp;'), ('<', '&lt;'), ('>', '&gt;')):
        text = text.replace(plain, escaped)
    return text
