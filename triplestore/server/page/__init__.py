"""The JSON API of the page: start at `page_routes` (routes.py).

Every answer is made by functions of `browse`, in a thread of the server, within its limits.
"""
