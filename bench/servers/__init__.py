"""Starting what is measured."""
