"""Who changed what, when, from where: written in the transaction of the change, and only ever added to."""
