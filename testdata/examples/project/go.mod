module example.org/stats

go 1.26
