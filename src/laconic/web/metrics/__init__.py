"""What `GET /metrics` shows, from every process of this machine.

catalog       every metric there is: name, kind, labels, meaning
board         numbers in memory that the processes share, a page for each process
requests      counts and times what the application answers
gather        what each kind of process writes on its page, once a second
installation  what is read from the database when somebody asks
exposition    all pages together, as Prometheus reads them
routes        GET /metrics, and who may
"""
